package io.github.roost.topology.system;

import io.github.roost.topology.TopologyException;
import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The CPUs that this process may use. Thread-safe. */
public final class ProcessCpus {
    private static final Path TASKS = Path.of("/proc/self/task");
    /** The thread has ended. */
    private static final int ESRCH = 3;

    private ProcessCpus() {}

    /**
     * Returns the number of CPUs in the process's affinity mask. {@code Runtime.availableProcessors()} counts those of the calling thread,
     * so on a pinned worker only those of its core.
     *
     * @return at least 1; on systems other than Linux, and if native access is denied, {@code Runtime.availableProcessors()}
     */
    public static int count() {
        try {
            return Math.max(1, LinuxScheduler.open().processMask().cardinality());
        } catch (NativeUnavailableException neverPinned) {
            // Without access to masks there are no pinned threads.
            return Runtime.getRuntime().availableProcessors();
        }
    }

    /**
     * Keeps this process on some of its CPUs, as if {@code taskset} had started it there: all of its threads, also those of the JVM, and
     * the threads and processes that they start. Threads that are pinned within these CPUs stay pinned.
     *
     * @param cpus OS numbers of CPUs, at least one, all of them in the process's affinity mask
     * @throws IllegalArgumentException if there is none, or the process may not use one of them
     * @throws TopologyException if this is not Linux, native access is denied, or the kernel refuses
     */
    public static void confineTo(Collection<Integer> cpus) {
        BitSet mask = CpuSet.of(cpus);
        try {
            LinuxScheduler scheduler = LinuxScheduler.open();
            BitSet all = scheduler.processMask();
            if (mask.isEmpty() || !CpuSet.contains(all, mask)) {
                throw new IllegalArgumentException("the CPUs must be among those of this process, " + CpuSet.text(all)
                        + ", got " + CpuSet.text(mask));
            }
            // A thread that starts meanwhile inherits the mask that its parent has then, and is found by the next
            // round.
            boolean found = true;
            while (found) {
                found = false;
                for (int thread : threads()) {
                    found |= confine(scheduler, thread, mask);
                }
            }
        } catch (NativeUnavailableException | IOException unavailable) {
            throw new TopologyException(
                    "this process cannot be kept on CPUs " + CpuSet.text(mask) + ": " + unavailable.getMessage(),
                    unavailable);
        }
    }

    /** Whether the thread could run on other CPUs too. */
    private static boolean confine(LinuxScheduler scheduler, int thread, BitSet mask) {
        List<Integer> allowed =
                ThreadPlacement.of(thread).map(ThreadPlacement::allowedCpus).orElse(List.of());
        if (CpuSet.contains(mask, CpuSet.of(allowed))) {
            return false;
        }
        int errno = scheduler.bindThread(thread, mask);
        if (errno != 0 && errno != ESRCH) {
            throw new TopologyException("the kernel refused to keep thread " + thread + " of this process on CPUs "
                    + CpuSet.text(mask) + ", errno " + errno);
        }
        return true;
    }

    /** The ids of this process's threads. */
    public static Set<Integer> threads() throws IOException {
        Set<Integer> threads = new HashSet<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
            tasks.forEach(task -> threads.add(Integer.parseInt(String.valueOf(task.getFileName()))));
        } catch (DirectoryIteratorException unreadable) {
            throw unreadable.getCause();
        }
        return threads;
    }
}
