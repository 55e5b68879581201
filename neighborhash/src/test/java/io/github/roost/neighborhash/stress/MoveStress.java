package io.github.roost.neighborhash.stress;

import io.github.roost.neighborhash.NeighborHashMap;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.openjdk.jcstress.infra.results.J_Result;

/** Readers beside a writer that moves what they look for. */
public class MoveStress {
    /** Belong into slot 4. The second one, a lodger, lives in slot 5, and the third in slot 6. */
    private static final long[] LODGERS = CollidingKeys.of(4, 3);
    /** Belong into slot 5. */
    private static final long[] HOSTS = CollidingKeys.of(5, 2);

    /** A table of sixteen slots, and what a reader holds of it. */
    abstract static class Shared implements AutoCloseable {
        final NeighborHashMap table = NeighborHashMap.builder(0).build();
        final NeighborHashMap.Reader reader = table.reader();

        @Override
        public void close() {
            table.close();
        }
    }

    /** A table with a chain of three. */
    abstract static class Chain extends Shared {
        Chain() {
            for (int i = 0; i < LODGERS.length; i++) {
                table.put(LODGERS[i], 10 + i);
            }
        }
    }

    /** A reader looks for a lodger while a host takes its slot. */
    @JCStressTest
    @Outcome(id = "11", expect = Expect.ACCEPTABLE, desc = "the lodger's payload, where it was or where it is")
    @Outcome(expect = Expect.FORBIDDEN, desc = "the host's payload, or none")
    @State
    public static class AHostTakesALodgersSlot extends Chain {
        @Actor
        public void writer() {
            table.put(HOSTS[0], 20);
        }

        @Actor
        public void reader(J_Result result) {
            result.r1 = reader.get(LODGERS[1], -1);
        }
    }

    /** A reader goes by the lodger's slot to the one behind it. */
    @JCStressTest
    @Outcome(id = "12", expect = Expect.ACCEPTABLE, desc = "the payload of the last of the chain")
    @Outcome(expect = Expect.FORBIDDEN, desc = "another's payload, or none")
    @State
    public static class AReaderGoesBy extends Chain {
        @Actor
        public void writer() {
            table.put(HOSTS[0], 20);
        }

        @Actor
        public void reader(J_Result result) {
            result.r1 = reader.get(LODGERS[2], -1);
        }
    }

    /** A reader looks for the host that comes. */
    @JCStressTest
    @Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "not there yet")
    @Outcome(id = "-1, 20", expect = Expect.ACCEPTABLE, desc = "comes in between")
    @Outcome(id = "20, 20", expect = Expect.ACCEPTABLE, desc = "is there")
    @Outcome(expect = Expect.FORBIDDEN, desc = "the lodger's payload, or gone again")
    @State
    public static class AReaderLooksForTheHost extends Chain {
        @Actor
        public void writer() {
            table.put(HOSTS[0], 20);
        }

        @Actor
        public void reader(JJ_Result result) {
            result.r1 = reader.get(HOSTS[0], -1);
            result.r2 = reader.get(HOSTS[0], -1);
        }
    }

    /** A table whose slots 8 to 11 have hosts, and 4 to 6; the second key of slot 8 lodges in slot 7. */
    abstract static class FullLines extends Shared {
        static final long[] LODGER = CollidingKeys.of(8, 2);
        static final long[] NEXT = CollidingKeys.of(4, 2);

        FullLines() {
            for (int slot = 9; slot < 12; slot++) {
                table.put(CollidingKeys.of(slot, 1)[0], slot);
            }
            table.put(LODGER[0], 10);
            table.put(LODGER[1], 11);
            table.put(NEXT[0], 19);
            for (int slot = 5; slot < 7; slot++) {
                table.put(CollidingKeys.of(slot, 1)[0], slot);
            }
        }
    }

    /** A reader looks for a lodger while it is kicked off the line of a chain that gets longer, and for the key that comes. */
    @JCStressTest
    @Outcome(
            id = "11, -1",
            expect = Expect.ACCEPTABLE,
            desc = "the lodger's payload; the key that comes is not there yet")
    @Outcome(id = "11, 20", expect = Expect.ACCEPTABLE, desc = "the lodger's payload; the key that comes is there")
    @Outcome(expect = Expect.FORBIDDEN, desc = "another's payload, or no lodger")
    @State
    public static class ALodgerIsKickedOffALine extends FullLines {
        @Actor
        public void writer() {
            table.put(NEXT[1], 20);
        }

        @Actor
        public void reader(JJ_Result result) {
            result.r1 = reader.get(LODGER[1], -1);
            result.r2 = reader.get(NEXT[1], -1);
        }
    }

    /** A reader looks for a key while the table moves all keys and frees its memory. */
    @JCStressTest
    @Outcome(id = "11, 12", expect = Expect.ACCEPTABLE, desc = "what was put")
    @Outcome(expect = Expect.FORBIDDEN, desc = "another's payload, or none")
    @State
    public static class TheTableGrows extends Chain {
        @Actor
        public void writer() {
            for (long key = -1; key > -12; key--) {
                table.put(key, 50);
            }
        }

        @Actor
        public void reader(JJ_Result result) {
            result.r1 = reader.get(LODGERS[1], -1);
            result.r2 = reader.get(LODGERS[2], -1);
        }
    }

    /** A key has two payloads, one after the other. */
    @JCStressTest
    @Outcome(id = "11, 11", expect = Expect.ACCEPTABLE, desc = "before")
    @Outcome(id = "11, 99", expect = Expect.ACCEPTABLE, desc = "in between")
    @Outcome(id = "99, 99", expect = Expect.ACCEPTABLE, desc = "after")
    @Outcome(expect = Expect.FORBIDDEN, desc = "another's payload, none, or the old one after the new one")
    @State
    public static class APayloadIsReplaced extends Chain {
        @Actor
        public void writer() {
            table.put(LODGERS[1], 99);
        }

        @Actor
        public void reader(JJ_Result result) {
            result.r1 = reader.get(LODGERS[1], -1);
            result.r2 = reader.get(LODGERS[1], -1);
        }
    }
}
