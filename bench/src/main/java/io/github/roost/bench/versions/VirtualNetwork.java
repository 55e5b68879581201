package io.github.roost.bench.versions;

import java.util.PriorityQueue;
import java.util.SplittableRandom;

/** Time that passes when something happens and at no other time, and messages that are lost, doubled, late and overtaken, from a seed. One thread. */
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

    /** What happens at a moment; those of one moment in the order in which they were put. */
    private record Event(long at, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    /** Messages of one kind, and what has become of them. */
    static final class Traffic {
        private final String kind;
        /** Of a thousand messages as many are lost, as many doubled, and as many late. */
        private final int faults;

        private final long mostLate;
        private long sent;
        private long lost;
        private long doubled;
        private long late;

        Traffic(String kind, int faults, long mostLateNanos) {
            this.kind = kind;
            this.faults = faults;
            this.mostLate = mostLateNanos;
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

    /** A message on its way: once, never, or twice, each time for another while. */
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
            return usualDelay() + random.nextLong(of.mostLate);
        }
        return usualDelay();
    }

    /** How long a message takes that is not late. */
    long usualDelay() {
        return exponential(200 * MICRO) + 50 * MICRO;
    }

    /** How long it is to the next of things that happen at any time. */
    long exponential(long mean) {
        return (long) (-Math.log(1 - random.nextDouble()) * mean);
    }

    void runNext() {
        Event event = events.remove();
        now = event.at;
        event.action.run();
    }
}
