package io.github.roost.rows.service;

import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * Virtual time, which advances from event to event, and messages that can be lost, duplicated, delayed and reordered, from a seed. Not thread-safe.
 */
final class VirtualNetwork {
    static final long MICRO = 1_000;
    static final long MILLI = 1_000 * MICRO;
    static final long SECOND = 1_000 * MILLI;

    private final SplittableRandom random;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long now;
    private long order;

    VirtualNetwork(SplittableRandom random) {
        this.random = random;
    }

    /** An event; events of the same time run in order of insertion. */
    private record Event(long at, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    /** Messages of one kind, and counts of their faults. */
    static final class Traffic {
        private final String kind;
        /** Per thousand messages, the number of lost, of duplicated and of late ones. */
        private final int faults;

        private final long maxLate;
        private long sent;
        private long lost;
        private long doubled;
        private long late;

        Traffic(String kind, int faults, long maxLateNanos) {
            this.kind = kind;
            this.faults = faults;
            this.maxLate = maxLateNanos;
        }

        VersionSimulation.Messages counts() {
            return new VersionSimulation.Messages(kind, sent, lost, doubled, late);
        }
    }

    long now() {
        return now;
    }

    void after(long nanos, Runnable action) {
        events.add(new Event(now + nanos, order++, action));
    }

    /** Sends a message: it arrives once, never, or twice, each time after its own delay. */
    void send(Traffic of, Runnable arrival) {
        of.sent++;
        int fate = random.nextInt(1_000);
        if (fate < of.faults) {
            of.lost++;
            return;
        }
        after(delay(of), arrival);
        if (fate >= 1_000 - of.faults) {
            of.doubled++;
            after(delay(of), arrival);
        }
    }

    private long delay(Traffic of) {
        if (random.nextInt(1_000) < of.faults) {
            of.late++;
            return usualDelay() + random.nextLong(of.maxLate);
        }
        return usualDelay();
    }

    /** The delay of a message that is not late. */
    long usualDelay() {
        return exponential(200 * MICRO) + 50 * MICRO;
    }

    /** An exponentially distributed time to the next event of a Poisson process. */
    long exponential(long mean) {
        return (long) (-Math.log(1 - random.nextDouble()) * mean);
    }

    void runNext() {
        Event event = events.remove();
        now = event.at;
        event.action.run();
    }
}
