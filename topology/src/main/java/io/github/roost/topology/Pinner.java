package io.github.roost.topology;

import io.github.roost.topology.ffm.LinuxScheduler;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pins threads to cores, and says what became of it: a bind that the kernel refuses costs a warning, never the service.
 * Thread-safe.
 */
public final class Pinner {
    private static final Logger LOG = LoggerFactory.getLogger(Pinner.class);
    /** Reasons already warned of, so that 96 workers do not say the same thing 96 times. */
    private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

    private final boolean bindable;

    private Pinner(boolean bindable) {
        this.bindable = bindable;
    }

    /** A pinner for the cores of a topology; it pins nothing where those are not this machine's. */
    public static Pinner of(Topology topology) {
        return new Pinner(topology.bindable());
    }

    /**
     * Pins the calling thread to a core's PUs and reads back what the kernel made of it. Threads that it starts
     * afterwards inherit the mask: see {@link ProcessMaskThreadFactory}.
     *
     * @throws IllegalStateException on a virtual thread, whose carrier would be pinned for whoever uses it next
     */
    public PinResult pin(Core core) {
        if (Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("a virtual thread cannot be pinned, got " + Thread.currentThread());
        }
        LinuxScheduler scheduler = LinuxScheduler.instance().orElse(null);
        if (scheduler == null) {
            return unpinned(core, List.of(), -1, "pinning needs Linux and native access");
        }
        String reason = bindable ? bind(core, scheduler) : "the topology is not this machine's";
        List<Integer> got = scheduler.affinityOf(0).stream().boxed().toList();
        int cpu = scheduler.currentCpu();
        if (reason.isEmpty() && got.equals(core.pus())) {
            return new PinResult(core.pus(), got, cpu, true, "");
        }
        String why = reason.isEmpty() ? "the kernel narrowed the mask" : reason;
        return bindable ? unpinned(core, got, cpu, why) : new PinResult(core.pus(), got, cpu, false, why);
    }

    private static String bind(Core core, LinuxScheduler scheduler) {
        BitSet pus = new BitSet();
        core.pus().forEach(pus::set);
        int errno = scheduler.bindCallingThread(pus);
        return switch (errno) {
            case 0 -> "";
            case 22 -> "no PU asked for exists here or is allowed (EINVAL)";
            case 1 -> "the kernel does not permit it (EPERM)";
            default -> "the kernel refused, errno " + errno;
        };
    }

    private static PinResult unpinned(Core core, List<Integer> got, int cpu, String reason) {
        if (WARNED.add(reason)) {
            LOG.warn(
                    "thread {} is not pinned to PUs {}: {}",
                    Thread.currentThread().getName(),
                    core.pus(),
                    reason);
        }
        return new PinResult(core.pus(), got, cpu, false, reason);
    }

    /** The kernel's number of the calling thread (as in {@code /proc/self/task}), or -1 where there is none. */
    public static int currentTid() {
        return LinuxScheduler.instance().map(LinuxScheduler::currentTid).orElse(-1);
    }
}
