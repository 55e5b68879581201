package io.github.roost.topology.system;

import io.github.roost.topology.Topology;
import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import java.io.IOException;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Gives threads that pinned threads have started all CPUs of the process. On Linux a thread inherits the affinity mask of the thread that
 * starts it, and an executor starts its threads in whichever thread submits a task: so a callback on a pinned worker leaves threads of
 * the common pool, of virtual threads' carriers, or of any other executor on that worker's core for good.
 *
 * <p>A thread counts as started by a pinned one if it is new since the last call, may run on exactly the CPUs of one core of the
 * topology, and was not pinned by a {@link io.github.roost.topology.Pinner}. So a thread that is pinned to such a core in another way before a call has
 * seen it loses that pin, unless the core is left out of the topology. Time slices, which are inherited too, stay as they are. Not thread-safe.
 */
public final class InheritedCpus {
    /**
     * Ids of threads that were pinned on purpose, without those that have ended. Guarded by itself: a thread that enters it is pinned afterwards, so
     * whoever finds that it has not may give it other CPUs under the lock.
     */
    private static final Set<Long> PINNED = new HashSet<>();

    private final LinuxScheduler scheduler;
    private final Set<List<Integer>> cores = new HashSet<>();
    /** The threads that the last call found. */
    private Set<Integer> known = Set.of();

    private InheritedCpus(LinuxScheduler scheduler, Topology topology) {
        this.scheduler = scheduler;
        topology.cores().forEach(core -> cores.add(CpuSet.list(CpuSet.of(core.pus()))));
    }

    /**
     * The threads of this process.
     *
     * @param topology the cores that threads are pinned to
     * @return empty if the topology is not of this machine, this is not Linux, native access is denied, or threads cannot be listed
     */
    public static Optional<InheritedCpus> of(Topology topology) {
        if (!topology.bindable()) {
            return Optional.empty();
        }
        try {
            InheritedCpus threads = new InheritedCpus(LinuxScheduler.open(), topology);
            threads.known = ProcessCpus.threads();
            return Optional.of(threads);
        } catch (NativeUnavailableException | IOException | SecurityException notHere) {
            return Optional.empty();
        }
    }

    /** Called by a thread before it is pinned on purpose: it stays pinned. */
    public static void pinned() {
        try {
            ThreadPlacement.current().ifPresent(thread -> {
                synchronized (PINNED) {
                    PINNED.add(thread.tid());
                }
            });
        } catch (SecurityException denied) {
            // Then threads cannot be listed either, and none is given other CPUs.
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
        // Before the threads are listed: one that is pinned later is not taken for one that has ended.
        Set<Long> pinned;
        synchronized (PINNED) {
            pinned = Set.copyOf(PINNED);
        }
        Set<Integer> listed;
        try {
            listed = ProcessCpus.threads();
        } catch (IOException noList) {
            return 0;
        }
        synchronized (PINNED) {
            PINNED.removeIf(thread -> pinned.contains(thread) && !listed.contains(thread.intValue()));
        }
        for (int thread : listed) {
            if (known.contains(thread)) {
                continue;
            }
            List<Integer> allowed =
                    ThreadPlacement.of(thread).map(ThreadPlacement::allowedCpus).orElse(List.of());
            boolean isInherited = allowed.size() < all.cardinality() && cores.contains(allowed);
            synchronized (PINNED) {
                if (isInherited && !PINNED.contains((long) thread) && scheduler.bindThread(thread, all) == 0) {
                    restored++;
                }
            }
        }
        known = listed;
        return restored;
    }
}
