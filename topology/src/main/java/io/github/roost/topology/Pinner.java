package io.github.roost.topology;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import io.github.roost.topology.system.CpuSet;
import io.github.roost.topology.system.InheritedCpus;
import io.github.roost.topology.system.ProcessMaskThreadFactory;
import io.github.roost.topology.system.Warnings;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Pins threads to the cores of a topology, and reports the mask that the kernel set. Thread-safe.
 *
 * <p>A refused pin is one WARN per cause and a flag in the {@link Result}; the thread keeps running with its old mask.
 * Threads started by a pinned thread inherit its mask, and {@code Runtime.availableProcessors()} shrinks with it: start them
 * through {@link ProcessMaskThreadFactory}.
 */
public final class Pinner {
    private final @Nullable LinuxScheduler scheduler;
    private final String whyNot;

    private Pinner(@Nullable LinuxScheduler scheduler, String whyNot) {
        this.scheduler = scheduler;
        this.whyNot = whyNot;
    }

    /**
     * A pinner for the cores of a topology.
     *
     * @param topology the topology; if it is not of this machine, the pinner refuses each pin and only reports masks
     * @return the pinner
     */
    public static Pinner of(Topology topology) {
        LinuxScheduler scheduler;
        try {
            scheduler = LinuxScheduler.open();
        } catch (NativeUnavailableException notHere) {
            return new Pinner(null, String.valueOf(notHere.getMessage()));
        }
        return new Pinner(scheduler, topology.bindable() ? "" : topology.source() + " is not this machine");
    }

    /**
     * Binds the calling platform thread to all the PUs of a core. A refused bind is a result, not an exception.
     *
     * @param core a core of the pinner's topology
     * @return the requested mask and the mask that the kernel set
     */
    public Result pin(Core core) {
        if (scheduler == null) {
            return new Result(core.pus(), List.of(), -1, false, whyNot);
        }
        BitSet requested = CpuSet.of(core.pus());
        // Before, so that no thread that is pinned on purpose looks as if it had inherited that.
        InheritedCpus.pinned();
        String refusal = refusal(scheduler, requested);
        BitSet got = scheduler.threadMask();
        if (refusal.isEmpty() && !got.equals(requested)) {
            refusal = "the kernel gave CPUs " + CpuSet.text(got) + " instead of " + CpuSet.text(requested);
            Warnings.once("bind changed", "a thread is not pinned: " + refusal);
        }
        return new Result(core.pus(), CpuSet.list(got), scheduler.currentCpu(), refusal.isEmpty(), refusal);
    }

    /**
     * {@return the OS number of the CPU that the calling thread runs on at this moment, or -1 if the system does not say}
     */
    public int currentCpu() {
        return scheduler == null ? -1 : scheduler.currentCpu();
    }

    /** Tries the bind; returns the reason of a refusal, empty if the kernel accepted. */
    private String refusal(LinuxScheduler linux, BitSet requested) {
        if (!whyNot.isEmpty()) {
            return whyNot;
        }
        if (Thread.currentThread().isVirtual()) {
            return refused("virtual thread", "a virtual thread cannot be pinned, its carrier would stay bound");
        }
        BitSet outside = CpuSet.difference(requested, linux.processMask());
        if (!outside.isEmpty()) {
            return refused("outside", "CPUs " + CpuSet.text(outside) + " are not among the CPUs of this process");
        }
        int errno = linux.bindThread(requested);
        return errno == 0
                ? ""
                : refused("errno " + errno, "the kernel refused CPUs " + CpuSet.text(requested) + ", errno " + errno);
    }

    private static String refused(String cause, String reason) {
        Warnings.once("bind: " + cause, "a thread is not pinned: " + reason);
        return reason;
    }

    /**
     * The outcome of a request to pin the calling thread.
     *
     * @param requested OS numbers of the requested PUs, ascending
     * @param got OS numbers of the PUs that the thread may run on, read back from the kernel after the bind, ascending; empty if
     *     masks cannot be read here
     * @param lastCpu the CPU that the thread last ran on, or -1 if the system does not say
     * @param pinned whether the bind succeeded and {@code got} equals {@code requested}
     * @param reason why the thread is not pinned, empty if it is
     */
    public record Result(List<Integer> requested, List<Integer> got, int lastCpu, boolean pinned, String reason) {
        /** Copies the lists. */
        public Result {
            requested = List.copyOf(requested);
            got = List.copyOf(got);
        }
    }
}
