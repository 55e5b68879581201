package io.github.roost.simulator;

/** The cost model of running tasks: cores that compute, and wait for caches and memory. Not thread-safe. */
final class Cores {
    private final Memory memory;
    private final double scale;
    private double computing;
    private double stalled;

    Cores(Memory memory, Parameters.Machine machine) {
        this.memory = memory;
        this.scale = machine.computeScale();
    }

    /**
     * Runs up to {@code max} further items of a task on a core from a time on; returns the time at which they are
     * done.
     */
    double run(int core, VirtualTask task, int max, double from) {
        double now = from;
        double compute = task.weight * task.itemNanos * scale;
        int end = Math.min(task.items, task.next + max);
        for (; task.next < end; task.next++) {
            double stall = task.weight
                    * memory.read(core, task.key(task.next), task.itemBytes, task.weight, now, task.inFlight);
            stalled += stall;
            computing += compute;
            now += stall + compute;
        }
        return now;
    }

    /** Computes for {@code nanos} without reading a table; returns the time that this takes on the machine. */
    double compute(double nanos) {
        computing += nanos * scale;
        return nanos * scale;
    }

    void resetCounts() {
        computing = 0;
        stalled = 0;
        memory.resetCounts();
    }

    double busyNanos() {
        return computing + stalled;
    }

    /** Time waiting for caches and memory, as a share of all busy time. */
    double stallShare() {
        return busyNanos() == 0 ? 0 : stalled / busyNanos();
    }

    Memory memory() {
        return memory;
    }
}
