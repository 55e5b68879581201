package io.github.roost.index.disk.update;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

class FreeBlocksTest {
    /** Where the search for a free block began last. */
    private int from = -1;

    private final FreeBlocks free = new FreeBlocks(new BitSet() {
        private static final long serialVersionUID = 1;

        @Override
        public int nextClearBit(int fromIndex) {
            from = fromIndex;
            return super.nextClearBit(fromIndex);
        }
    });

    @Test
    void aTakenBlockIsNotLookedAtAgainUntilOneBeforeItIsGivenBack() {
        for (int block = 0; block < 1_000; block++) {
            assertThat(free.take()).isEqualTo(block);
            assertThat(from).isEqualTo(block);
        }
        free.give(700);
        free.give(300);
        assertThat(free.take()).isEqualTo(300);
        assertThat(free.take()).isEqualTo(700);
        assertThat(from).isEqualTo(301);
        assertThat(free.take()).isEqualTo(1_000);
    }

    @Test
    void aRunIsTakenWhereItFitsAndLeavesTheBlocksBeforeItFree() {
        assertThat(free.take(10)).isZero();
        free.give(3);
        free.give(6);
        free.give(7);
        assertThat(free.take(3)).isEqualTo(10);
        assertThat(free.take(2)).isEqualTo(6);
        assertThat(free.take()).isEqualTo(3);
        assertThat(free.take()).isEqualTo(13);
    }
}
