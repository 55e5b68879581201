package io.github.roost.core.pool;

import io.github.roost.core.spi.Indexing.Maintenance;
import io.github.roost.core.spi.Indexing.StallRule;
import io.github.roost.core.task.Task;
import org.jspecify.annotations.Nullable;

/**
 * When a worker takes maintenance, and for how long: between searches its share of their time; if all its searches are parked, by the
 * {@link StallRule} if an index has set one; otherwise, if there is nothing else to run, step by step. Used by the runner's thread.
 */
final class MaintenanceTurns {
    /** Maximum credit and debt of maintenance, however long none ran, or a step took. */
    private static final double MAX_CREDIT_NANOS = 1_000_000;

    private final Runner runner;
    private final Worker worker;
    private final WorkerPool pool;

    /** Nanoseconds of maintenance that are due: its share of the time that searches ran. */
    private double credit;
    /** The factory that opened {@code rule}. */
    private StallRule.@Nullable Factory opener;
    /** Null for the default: stalls are filled step by step. */
    private @Nullable StallRule rule;
    /** Time budget of the maintenance step in hand. */
    private long stepNanos = Maintenance.STEP_NANOS;
    /** Whether the last slice was maintenance. */
    private boolean afterMaintenance;

    MaintenanceTurns(Runner runner, WorkerPool pool) {
        this.runner = runner;
        this.worker = runner.worker();
        this.pool = pool;
    }

    // ---- Taking maintenance.

    /** Takes maintenance that goes before searches because its share of their time is due; null if there is none. */
    @Nullable
    Task takeDue() {
        return credit > 0 && (rule == null || !rule.isEmpty()) ? take(Maintenance.STEP_NANOS) : null;
    }

    /** Takes maintenance when there is nothing else to run, if the stall may be filled; null if there is none. */
    @Nullable
    Task takeWhenIdle() {
        if (!waits()) {
            return null;
        }
        long nanos = rule != null && rule.isMeasured() ? rule.mayRun(System.nanoTime()) : Maintenance.STEP_NANOS;
        return nanos > 0 ? take(nanos) : null;
    }

    private @Nullable Task take(long nanos) {
        stepNanos = nanos;
        return pool.maintenance(worker.domain).poll();
    }

    /** Whether maintenance waits in the domain. */
    boolean waits() {
        return pool.maintenance(worker.domain).hasTasks();
    }

    /** Time budget of the maintenance step in hand. */
    long stepNanos() {
        return stepNanos;
    }

    /** Whether the last slice was maintenance. */
    boolean wasLast() {
        return afterMaintenance;
    }

    // ---- Credit.

    /** Called after a slice, less the time of slices nested in it: pays for maintenance, or earns its share of the time of a search. */
    void ran(Task task, long from, long to, long nested) {
        if (task.isMaintenance()) {
            credit = Math.max(-MAX_CREDIT_NANOS, credit - (to - from - nested));
            if (rule != null) {
                rule.ran(from, to);
            }
        } else if (waits()) {
            credit = Math.min(MAX_CREDIT_NANOS, credit + pool.maintenanceShare() * (to - from - nested));
        } else {
            credit = 0;
        }
    }

    /** Whether a running step may go on before searches: it has not used up its share of their time. */
    boolean isDue(Frame step) {
        return credit > System.nanoTime() - step.startNanos() - step.nestedNanos();
    }

    /** Called when the slice of a task is settled. */
    void settled(Task task) {
        afterMaintenance = task.isMaintenance();
    }

    // ---- Stalls.

    /** Called after a search has parked: begins a stall if there is no other task to run. */
    void beginStall() {
        StallRule.Factory factory = pool.stallRule();
        if (factory != opener) {
            rule = factory == null ? null : factory.open(worker.index);
            opener = factory;
        }
        if (rule != null
                && runner.slices().current() == null
                && !worker.hasTasks()
                && !worker.parked.isEmpty()
                && runner.goesOn()) {
            rule.begins(runner.slices().endOfLast(), worker.sources.underWay(runner));
        }
    }

    /** Ends the stall at the first task that is not maintenance. Only a task of this domain that had begun gives a measurement. */
    void endStall(Task task, boolean hasBegun) {
        if (rule == null || task.isMaintenance()) {
            return;
        }
        long now = System.nanoTime();
        if (hasBegun) {
            rule.ends(now);
        } else {
            rule.isOver(now);
        }
    }

    /** Called when there is nothing to run: a worker without parked searches is idle, not in a stall. */
    void idleBegins() {
        if (rule == null) {
            return;
        }
        if (!rule.isMeasured()) {
            rule.isOver(0);
        } else if (worker.parked.isEmpty()) {
            rule.isOver(System.nanoTime());
        }
    }

    /** Whether the worker is in a stall that is measured, which it may fill later; then it must not yield its core. */
    boolean mayFillLater() {
        return rule != null && rule.isMeasured() && waits();
    }
}
