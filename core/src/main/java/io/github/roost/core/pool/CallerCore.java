package io.github.roost.core.pool;

import io.github.roost.topology.PinResult;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntSupplier;

/**
 * Which worker is pinned to the core that the calling thread runs on. To wake a sleeper on one's own core takes no
 * interrupt of another core, and no core out of its sleep: several times faster. Thread-safe.
 */
final class CallerCore {
    private static final int MAX_CPUS = 1 << 16;

    private final IntSupplier currentCpu;
    /** Worker plus 1 by OS number of a PU, 0 where there is none; each worker writes its own as it pins itself. */
    private final AtomicIntegerArray workers;

    /**
     * @param currentCpu the CPU that the calling thread runs on, or -1
     * @param cpus one more than the largest OS number of a PU
     */
    CallerCore(IntSupplier currentCpu, int cpus) {
        this.currentCpu = currentCpu;
        this.workers = new AtomicIntegerArray(Math.min(cpus, MAX_CPUS));
    }

    /** Notes where a worker is pinned; one that is not is never near anybody. */
    void pinned(int worker, PinResult pin) {
        if (pin.pinned()) {
            for (int cpu : pin.got()) {
                if (cpu < workers.length()) {
                    workers.set(cpu, worker + 1);
                }
            }
        }
    }

    /** The worker of the caller's core, or -1. */
    int worker() {
        int cpu = currentCpu.getAsInt();
        return cpu >= 0 && cpu < workers.length() ? workers.get(cpu) - 1 : -1;
    }
}
