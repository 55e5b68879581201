package io.github.roost.index.ivf.kernel;

import io.github.roost.vector.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;

/** The kernels that this machine can run. */
public final class ScanKernels {
    /** System property that names the kernel to use: {@code avx512 avx2 neon portable vector java}. */
    public static final String PROPERTY = "roost.ivf.kernel";

    private static final Kernels<ScanKernel> KERNELS = new Kernels<>(PROPERTY, find(), ScanKernel::name);

    private ScanKernels() {}

    /** All kernels, the fastest first; the last is plain Java and always available. */
    public static List<ScanKernel> available() {
        return KERNELS.available();
    }

    /**
     * The fastest kernel, or the one that {@link #PROPERTY} names.
     *
     * @throws IllegalArgumentException if the property names a kernel that is not {@link #available()}
     */
    public static ScanKernel preferred() {
        return KERNELS.preferred();
    }

    private static List<ScanKernel> find() {
        List<ScanKernel> kernels = new ArrayList<>();
        // The portable kernel calls a function for each fused operation, so Java with vectors goes before it.
        List<ScanKernel> natively = natively();
        natively.stream().filter(kernel -> !kernel.name().equals("portable")).forEach(kernels::add);
        if (ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent()) {
            kernels.add(new JavaScan("vector", new VectorPairSum(), new VectorTileScores()));
        }
        natively.stream().filter(kernel -> kernel.name().equals("portable")).forEach(kernels::add);
        kernels.add(new JavaScan("java", new JavaScan.ScalarPairSum(), new JavaScan.ScalarTileScores()));
        return List.copyOf(kernels);
    }

    private static List<ScanKernel> natively() {
        return Kernels.orNone("The native IVF kernel cannot be loaded, lists are scanned in Java", NativeScan::all);
    }
}
