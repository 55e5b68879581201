package io.github.roost.neighborhash;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.neighborhash.stress.CollidingKeys;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a reader sees that stands between a slot's key and its word while the writer moves the key in it: the right payload, as the writer waits, and a wrong one
 * if it does not. So the tests that no reader sees a wrong one would fail if the wait were taken out.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GracePeriodTest {
    /** A table of sixteen slots, a key that makes the writer move another one, and what a reader looks for that goes by the moved one's slot. */
    private enum Move {
        /** Keys 0 to 2 belong into slot 4, so key 1 is a lodger in slot 5, whose host comes. */
        A_HOST_TAKES_A_LODGERS_SLOT(4, 3, CollidingKeys.of(5, 1)[0], 1, 1, 20),
        /** The same; the reader is on its way to the key behind the lodger. */
        A_READER_GOES_BY(4, 3, CollidingKeys.of(5, 1)[0], 2, 1, NeighborHashMap.ABSENT),
        /** Line 2 (slots 8 to 11) is full of hosts, so key 1 of slot 8 lodges on line 1; that is full, too, and a second key of slot 4 comes. */
        A_LODGER_IS_KICKED_OFF_A_LINE(8, 2, CollidingKeys.of(4, 2)[1], 1, 1, 20) {
            @Override
            void fill(NeighborHashMap table) {
                for (int slot = 9; slot < 12; slot++) {
                    table.put(CollidingKeys.of(slot, 1)[0], slot);
                }
                super.fill(table);
                for (int slot = 4; slot < 7; slot++) {
                    table.put(CollidingKeys.of(slot, 1)[0], slot);
                }
            }
        };

        private final long slot;
        private final int keys;
        private final long newcomer;
        private final int wanted;
        private final int slotsBefore;
        private final long wrong;

        /**
         * @param slotsBefore slots that the reader looks at before that of the key that is moved
         * @param wrong what it finds in that without a wait
         */
        Move(long slot, int keys, long newcomer, int wanted, int slotsBefore, long wrong) {
            this.slot = slot;
            this.keys = keys;
            this.newcomer = newcomer;
            this.wanted = wanted;
            this.slotsBefore = slotsBefore;
            this.wrong = wrong;
        }

        void fill(NeighborHashMap table) {
            for (int i = 0; i < keys; i++) {
                table.put(key(i), 10 + i);
            }
        }

        private long key(int i) {
            return CollidingKeys.of(slot, keys)[i];
        }

        long wantedKey() {
            return key(wanted);
        }

        /** What a reader finds if something happens when it has read the key in the slot of the one that is moved. */
        long find(NeighborHashMap table, Runnable then) {
            AtomicInteger slot = new AtomicInteger();
            try (NeighborHashMap.Reader reader = table.reader()) {
                return reader.get(wantedKey(), () -> {
                    if (slot.getAndIncrement() == slotsBefore) {
                        then.run();
                    }
                });
            }
        }
    }

    private static NeighborHashMap table(Move move, UnaryOperator<Chains.Grace> grace) {
        NeighborHashMap table = NeighborHashMap.builder(0).grace(grace).build();
        move.fill(table);
        return table;
    }

    @ParameterizedTest
    @EnumSource
    void withoutItAReaderFindsAnotherKeysPayloadOrNone(Move move) {
        try (NeighborHashMap table = table(move, real -> () -> {})) {
            assertThat(move.find(table, () -> table.put(move.newcomer, 20))).isEqualTo(move.wrong);
        }
    }

    @ParameterizedTest
    @EnumSource
    void withItTheReaderFindsItsKeysPayloadWhileTheWriterWaits(Move move) throws InterruptedException {
        AtomicInteger waits = new AtomicInteger();
        try (NeighborHashMap table = table(move, real -> () -> {
            waits.incrementAndGet();
            real.await();
        })) {
            assertThat(waits).as("nothing has moved yet").hasValue(0);
            Thread writer = Thread.ofPlatform().unstarted(() -> table.put(move.newcomer, 20));
            long found = move.find(table, () -> {
                writer.start();
                // A writer that waits parks; one that does not ends.
                while (writer.isAlive() && writer.getState() != Thread.State.TIMED_WAITING) {
                    Thread.onSpinWait();
                }
            });
            assertThat(found).isEqualTo(10 + move.wanted);
            writer.join();
            assertThat(waits).hasValue(1);
            assertThat(table.get(move.wantedKey(), -1)).isEqualTo(10 + move.wanted);
            assertThat(table.get(move.newcomer, -1)).isEqualTo(20);
        }
    }

    @Test
    void theKickIsOne() {
        try (NeighborHashMap table = table(Move.A_LODGER_IS_KICKED_OFF_A_LINE, UnaryOperator.identity())) {
            assertThat(table.stats().kicks()).isZero();
            table.put(Move.A_LODGER_IS_KICKED_OFF_A_LINE.newcomer, 20);
            assertThat(table.stats().kicks()).isOne();
        }
    }
}
