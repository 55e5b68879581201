package io.github.roost.core.pool;

import io.github.roost.topology.Pinner;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntSupplier;

/**
 * Finds the worker that is pinned to the calling thread's core. Waking a worker on the own core is several times faster: it
 * interrupts no other core and takes no core out of a sleep state. Thread-safe.
 */
final class CallerCore {
    private static final int MAX_CPUS = 1 << 16;

    private final IntSupplier currentCpu;
    /** Worker plus 1 by OS number of a PU, 0 for none; each worker writes its own entries when it pins itself. */
    private final AtomicIntegerArray workers;

    /**
     * @param currentCpu the CPU that the calling thread runs on, or -1
     * @param cpus one more than the largest OS number of a PU
     */
    CallerCore(IntSupplier currentCpu, int cpus) {
        this.currentCpu = currentCpu;
        this.workers = new AtomicIntegerArray(Math.min(cpus, MAX_CPUS));
    }

    /** Records the PUs that a worker is pinned to; a worker that is not pinned is never near a caller. */
    void pinned(int worker, Pinner.Result pin) {
        if (pin.pinned()) {
            for (int cpu : pin.got()) {
                if (cpu < workers.length()) {
                    workers.set(cpu, worker + 1);
                }
            }
        }
    }

    /** The worker on the caller's core, or -1. */
    int worker() {
        int cpu = currentCpu.getAsInt();
        return cpu >= 0 && cpu < workers.length() ? workers.get(cpu) - 1 : -1;
    }
}
