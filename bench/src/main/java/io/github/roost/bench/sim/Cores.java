package io.github.roost.bench.sim;

/** What running costs: cores that compute, and wait for caches and memory. Not thread-safe. */
final class Cores {
    private final Memory memory;
    private final Parameters.Kind kind;
    private final double scale;
    private final double groupedLine;
    private double computing;
    private double stalled;

    Cores(Memory memory, Parameters.Machine machine, Parameters.Tasks tasks, Parameters.Kind kind) {
        this.memory = memory;
        this.kind = kind;
        this.scale = machine.computeScale();
        this.groupedLine = tasks.groupedLine();
    }

    /** Runs up to so many further items of a task on a core from a time on; when they are done. */
    double run(int core, VirtualTask task, int most, double from) {
        double now = from;
        int lines = (task.itemBytes + Memory.LINE_BYTES - 1) / Memory.LINE_BYTES;
        double lineCost = kind.lineNanos() * (1 + groupedLine * (task.queries.size() - 1));
        int end = Math.min(task.items, task.next + most);
        for (; task.next < end; task.next++) {
            double stall = task.weight * memory.read(core, task.key(task.next), task.itemBytes, task.weight, now, kind);
            double compute = task.weight * (kind.itemNanos() + lines * lineCost) * scale;
            stalled += stall;
            computing += compute;
            now += stall + compute;
        }
        return now;
    }

    /** Work that reads nothing of a table. */
    double overhead(double nanos) {
        computing += nanos;
        return nanos;
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
