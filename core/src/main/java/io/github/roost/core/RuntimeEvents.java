package io.github.roost.core;

import io.github.roost.core.pool.PoolListener;
import java.time.Duration;
import java.util.function.IntFunction;
import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** Emits JFR events of the workers; costs next to nothing if no recording enables them. */
final class RuntimeEvents implements PoolListener {
    private final long slowNanos;
    private volatile IntFunction<String> names = slot -> "slot " + slot;

    RuntimeEvents(Duration slowTaskThreshold) {
        this.slowNanos = Nanos.of(slowTaskThreshold);
    }

    void nameSlotsBy(IntFunction<String> nameOf) {
        this.names = nameOf;
    }

    @Override
    public void crossSteal(int thief, int victim, int slot) {
        CrossStealEvent event = new CrossStealEvent();
        if (event.isEnabled()) {
            event.thief = thief;
            event.victim = victim;
            event.mappingId = names.apply(slot);
            event.commit();
        }
    }

    @Override
    public void ran(int slot, int worker, long nanos) {
        if (nanos < slowNanos) {
            return;
        }
        SlowTaskEvent event = new SlowTaskEvent();
        if (event.isEnabled()) {
            event.worker = worker;
            event.runTime = nanos;
            event.mappingId = names.apply(slot);
            event.commit();
        }
    }

    @Override
    public void broke(Throwable error) {
        BrokenEvent event = new BrokenEvent();
        event.error = error.toString();
        event.commit();
    }

    static void rejected(String what, int domain) {
        RejectedEvent event = new RejectedEvent();
        event.mappingId = what;
        event.domain = domain;
        event.commit();
    }

    @Name("io.github.roost.CrossDomainSteal")
    @Label("Cross-Domain Steal")
    @Category("Roost")
    @StackTrace(false)
    static final class CrossStealEvent extends Event {
        @Label("Thief")
        int thief;

        @Label("Victim")
        int victim;

        @Label("Mapping Id")
        String mappingId = "";
    }

    @Name("io.github.roost.SlowTask")
    @Label("Slow Task")
    @Category("Roost")
    @StackTrace(false)
    static final class SlowTaskEvent extends Event {
        @Label("Worker")
        int worker;

        @Label("Run Time")
        @Timespan(Timespan.NANOSECONDS)
        long runTime;

        @Label("Mapping Id")
        String mappingId = "";
    }

    @Name("io.github.roost.Broken")
    @Label("Orchestrator Broken")
    @Category("Roost")
    static final class BrokenEvent extends Event {
        @Label("Error")
        String error = "";
    }

    @Name("io.github.roost.Rejected")
    @Label("Rejected")
    @Category("Roost")
    static final class RejectedEvent extends Event {
        @Label("Mapping Id")
        String mappingId = "";

        @Label("Cache Domain")
        int domain;
    }
}
