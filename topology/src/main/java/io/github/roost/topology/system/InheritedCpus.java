package io.github.roost.topology.system;

import io.github.roost.topology.Topology;
import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Gives threads that pinned threads have started all CPUs of the process. On Linux a thread inherits the affinity mask of the thread that
 * starts it, and an executor starts its threads in whichever thread submits a task: so a callback on a pinned worker leaves threads of
 * the common pool, of virtual threads' carriers, or of any other executor on that worker's core for good.
 *
 * <p>A thread counts as started by a pinned one if it is new since the last call and may run on exactly the CPUs of one core of the
 * topology. So a thread that pins itself to such a core before a call has seen it loses that pin, unless the core is left out of the
 * topology. Time slices, which are inherited too, stay as they are. Not thread-safe.
 */
public final class InheritedCpus {
    private static final Path TASKS = Path.of("/proc/self/task");

    private final LinuxScheduler scheduler;
    private final Set<List<Integer>> cores = new HashSet<>();
    private final Predicate<String> staysPinned;
    /** The threads that the last call found, without those that are pinned on purpose. */
    private Set<Integer> known = Set.of();

    private InheritedCpus(LinuxScheduler scheduler, Topology topology, Predicate<String> staysPinned) {
        this.scheduler = scheduler;
        this.staysPinned = staysPinned;
        topology.cores().forEach(core -> cores.add(CpuSet.list(CpuSet.of(core.pus()))));
    }

    /**
     * The threads of this process.
     *
     * @param topology the cores that threads are pinned to
     * @param staysPinned tells from the start of a thread's name, up to 15 characters, whether it stays pinned
     * @return empty if the topology is not of this machine, this is not Linux, native access is denied, or threads cannot be listed
     */
    public static Optional<InheritedCpus> of(Topology topology, Predicate<String> staysPinned) {
        if (!topology.bindable()) {
            return Optional.empty();
        }
        try {
            InheritedCpus threads = new InheritedCpus(LinuxScheduler.open(), topology, staysPinned);
            threads.known = ProcessCpus.threads();
            return Optional.of(threads);
        } catch (NativeUnavailableException | IOException | SecurityException notHere) {
            return Optional.empty();
        }
    }

    /**
     * Restores the masks of threads that have started since the last call, or since {@link #of}.
     *
     * @return the number of restored threads
     */
    public int restore() {
        BitSet all = scheduler.processMask();
        int restored = 0;
        Set<Integer> listed;
        try {
            listed = ProcessCpus.threads();
        } catch (IOException noList) {
            return 0;
        }
        Set<Integer> seen = new HashSet<>(listed);
        for (int thread : listed) {
            if (known.contains(thread)) {
                continue;
            }
            List<Integer> allowed =
                    ThreadPlacement.of(thread).map(ThreadPlacement::allowedCpus).orElse(List.of());
            if (allowed.size() == all.cardinality() || !cores.contains(allowed)) {
                continue;
            }
            if (staysPinned.test(nameOf(thread))) {
                // Looked at again: until a thread has its own name, it has the name of the thread that started it.
                seen.remove(thread);
            } else if (scheduler.bindThread(thread, all) == 0) {
                restored++;
            }
        }
        known = seen;
        return restored;
    }

    private static String nameOf(int thread) {
        try {
            return Files.readString(TASKS.resolve(thread + "/comm")).strip();
        } catch (IOException ended) {
            return "";
        }
    }
}
