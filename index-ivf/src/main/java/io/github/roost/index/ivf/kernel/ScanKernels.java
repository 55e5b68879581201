package io.github.roost.index.ivf.kernel;

import io.github.roost.index.ivf.kernel.NativeScan.InstructionSet;
import java.util.ArrayList;
import java.util.List;

/** The kernels that this machine can run. */
public final class ScanKernels {
    private static final List<ScanKernel> AVAILABLE = available();

    private ScanKernels() {}

    private static List<ScanKernel> available() {
        List<ScanKernel> kernels = new ArrayList<>();
        for (InstructionSet instructionSet : List.of(InstructionSet.values()).reversed()) {
            NativeScan.of(instructionSet).ifPresent(kernels::add);
        }
        kernels.add(new JavaScan());
        return List.copyOf(kernels);
    }

    /** All of them, fastest first; the one in Java is always there. */
    public static List<ScanKernel> all() {
        return AVAILABLE;
    }

    /** The fastest, or the one named by the system property {@code roost.ivf.kernel}. */
    public static ScanKernel best() {
        String wanted = System.getProperty("roost.ivf.kernel", "");
        if (wanted.isEmpty()) {
            return AVAILABLE.getFirst();
        }
        return AVAILABLE.stream()
                .filter(kernel -> kernel.name().equals(wanted))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("roost.ivf.kernel must be one of "
                        + AVAILABLE.stream().map(ScanKernel::name).toList() + ", got " + wanted));
    }
}
