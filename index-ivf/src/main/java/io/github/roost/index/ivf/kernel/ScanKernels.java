package io.github.roost.index.ivf.kernel;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The kernels that this machine can run. */
public final class ScanKernels {
    /** System property that names the kernel to use: {@code avx512 avx2 neon portable vector java}. */
    public static final String PROPERTY = "roost.ivf.kernel";

    private static final Logger LOG = LoggerFactory.getLogger(ScanKernels.class);
    private static final List<ScanKernel> AVAILABLE = find();

    private ScanKernels() {}

    /** All kernels, the fastest first; the last is plain Java and always there. */
    public static List<ScanKernel> available() {
        return AVAILABLE;
    }

    /**
     * The fastest kernel, or the one that {@link #PROPERTY} names.
     *
     * @throws IllegalArgumentException if the property names none of {@link #available()}
     */
    public static ScanKernel preferred() {
        String name = System.getProperty(PROPERTY);
        return name == null ? AVAILABLE.getFirst() : named(name);
    }

    private static ScanKernel named(String name) {
        for (ScanKernel kernel : AVAILABLE) {
            if (kernel.name().equals(name)) {
                return kernel;
            }
        }
        throw new IllegalArgumentException(PROPERTY + " must be one of "
                + AVAILABLE.stream().map(ScanKernel::name).toList() + ", got " + name);
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
        kernels.add(new JavaScan("java", new ScalarPairSum(), new ScalarTileScores()));
        return List.copyOf(kernels);
    }

    @SuppressWarnings("IllegalCatch") // whatever keeps a library from loading, the scan in Java serves
    private static List<ScanKernel> natively() {
        try {
            return NativeScan.all();
        } catch (Throwable failure) {
            // What went wrong in a static initialiser is the cause of the error that says so.
            Throwable cause = failure.getCause();
            LOG.warn(
                    "The native IVF kernel cannot be loaded, lists are scanned in Java: {}",
                    String.valueOf(cause == null ? failure : cause));
            return List.of();
        }
    }
}
