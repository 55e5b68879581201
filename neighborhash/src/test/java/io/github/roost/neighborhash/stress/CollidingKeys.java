package io.github.roost.neighborhash.stress;

import io.github.roost.neighborhash.kernel.Slots;
import java.util.stream.LongStream;

/** Keys by the slot where they belong. */
public final class CollidingKeys {
    private CollidingKeys() {}

    /** The first keys from 1 on that belong into a slot of the smallest table there is. */
    public static long[] of(long slot, int count) {
        try (Slots smallest = Slots.allocate(Slots.MIN, 0)) {
            return LongStream.iterate(1, key -> key + 1)
                    .filter(key -> smallest.bucket(key) == slot)
                    .limit(count)
                    .toArray();
        }
    }
}
