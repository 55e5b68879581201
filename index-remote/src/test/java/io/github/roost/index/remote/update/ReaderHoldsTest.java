package io.github.roost.index.remote.update;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.remote.format.PoolHead;
import org.junit.jupiter.api.Test;

class ReaderHoldsTest {
    private static long[] words(long owner, long epoch, long beat, long otherEpoch) {
        long[] words = new long[2 * PoolHead.READERS];
        words[4] = owner;
        words[5] = epoch << 32 | beat;
        words[20] = 99;
        words[21] = otherEpoch << 32 | beat;
        return words;
    }

    @Test
    void aHoldThatIsNotRenewedForALeaseEndsAndTheOthersCount() {
        ReaderHolds holds = new ReaderHolds(100);
        assertThat(holds.look(new long[2 * PoolHead.READERS], 0, 0).oldest()).isEqualTo(Long.MAX_VALUE);
        assertThat(holds.look(words(7, 3, 1, 5), 1_000, 1_000).oldest()).isEqualTo(3);
        // Nobody has looked for long: the hold may have been renewed at any time since.
        assertThat(holds.look(words(7, 3, 2, 5), 2_000, 2_000).oldest()).isEqualTo(3);
        assertThat(holds.look(words(7, 3, 2, 5), 2_100, 2_100).oldest()).isEqualTo(3);
        long[] renewed = words(7, 3, 2, 5);
        renewed[21]++;
        ReaderHolds.Look look = holds.look(renewed, 2_101, 2_101);
        assertThat(look.oldest()).isEqualTo(5);
        assertThat(look.dead()).containsExactly(new ReaderHolds.Dead(2, 7));
        // Another table has the words by now.
        assertThat(holds.look(words(8, 4, 2, 5), 2_110, 2_110).oldest()).isEqualTo(4);
    }

    @Test
    void onlyTheTimeBetweenTwoReadsCounts() {
        ReaderHolds holds = new ReaderHolds(100);
        assertThat(holds.look(words(7, 3, 1, 5), 1_000, 1_500).oldest()).isEqualTo(3);
        // The first read may have been done at 1,500.
        assertThat(holds.look(words(7, 3, 1, 5), 1_600, 1_601).dead()).isEmpty();
        // The second read may have been done at 1,600, long before it was looked at.
        assertThat(holds.look(words(7, 3, 1, 5), 1_600, 9_000).dead()).isEmpty();
        assertThat(holds.look(words(7, 3, 1, 5), 1_601, 9_000).dead()).hasSize(2);
    }
}
