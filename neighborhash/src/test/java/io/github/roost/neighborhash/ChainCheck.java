package io.github.roost.neighborhash;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.neighborhash.kernel.Slots;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What must hold of the slots of a table after every change, by looking at all of them. */
final class ChainCheck {
    private ChainCheck() {}

    /**
     * Every chain begins where its keys belong, ends, steps no farther than it can, and shares no slot; together the chains have
     * every key that is expected once, with its payload, and no other that has not been removed; and a free slot has a key that
     * does not belong there.
     */
    static void requireWhole(NeighborHashMap table, Map<Long, Long> expected) {
        requireWhole(table.slots(), expected);
        assertThat(table.size()).isEqualTo(expected.size());
    }

    /** The same of slots by themselves. */
    static void requireWhole(Slots slots, Map<Long, Long> expected) {
        Set<Long> visited = new HashSet<>();
        Set<Long> found = new HashSet<>();
        for (long head = 0; head < slots.count(); head++) {
            if (slots.isFree(head)) {
                assertThat(slots.bucket(slots.key(head))).as("key in free slot").isNotEqualTo(head);
            }
            int length = 0;
            for (long slot = slots.isHost(head) ? head : -1; slot >= 0; slot = slots.next(slot)) {
                long key = slots.key(slot);
                long next = slots.next(slot);
                assertThat(slots.isFree(slot))
                        .as("chain leads to free slot %d", slot)
                        .isFalse();
                assertThat(slots.bucket(key)).as("key %d", key).isEqualTo(head);
                assertThat(visited.add(slot)).as("slot %d in two chains", slot).isTrue();
                assertThat(next < 0 || slots.reaches(slot, next)).isTrue();
                assertThat(++length).isLessThanOrEqualTo(Chains.LONGEST);
                if (slots.payload(slot) != Slots.REMOVED) {
                    assertThat(found.add(key)).as("key %d twice", key).isTrue();
                    assertThat(expected).containsEntry(key, slots.payload(slot));
                }
            }
        }
        assertThat(found).hasSameSizeAs(expected.keySet());
    }
}
