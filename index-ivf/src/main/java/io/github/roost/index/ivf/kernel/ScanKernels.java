package io.github.roost.index.ivf.kernel;

import io.github.roost.vector.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;

/** The kernels that this machine can run. */
public final class ScanKernels {
    /** System property that names the kernel to use: {@code avx512 avx2 neon portable java}. */
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
        List<ScanKernel> kernels = new ArrayList<>(
                Kernels.orNone("The native IVF kernel cannot be loaded, lists are scanned in Java", NativeScan::all));
        kernels.add(new JavaScan());
        return List.copyOf(kernels);
    }
}
