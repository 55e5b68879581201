package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class ShardCountTest {
    @Test
    void aTableIsDividedSoThatItHasAQuarterOfRoomToGrow() {
        assertThat(ShardCount.next(0, 0, 1_000, 3)).isEqualTo(3);
        assertThat(ShardCount.next(1, 8_000, 1_000, 1)).isEqualTo(10);
        assertThat(ShardCount.next(10, 9_000, 1_000, 1)).isEqualTo(12);
        assertThat(ShardCount.next(12, 9_000, 1_000, 1)).isEqualTo(12);
    }

    @Test
    void itIsDividedIntoFewerWhereHalfAsManyWouldDo() {
        assertThat(ShardCount.next(12, 4_900, 1_000, 1)).isEqualTo(12);
        assertThat(ShardCount.next(12, 4_800, 1_000, 1)).isEqualTo(6);
        assertThat(ShardCount.next(12, 0, 1_000, 4)).isEqualTo(4);
        assertThat(ShardCount.next(12, 0, 1_000, 7)).isEqualTo(12);
    }

    @Property(tries = 2_000)
    void noShardIsLargerThanWishedAndWhatIsDividedOnceStays(
            @ForAll @IntRange(max = 4_096) int before,
            @ForAll @LongRange(max = 1L << 40) long bytes,
            @ForAll @LongRange(min = 1, max = 1L << 40) long maxShardBytes,
            @ForAll @IntRange(min = 1, max = 64) int minShards) {
        int next = ShardCount.next(before, bytes, maxShardBytes, minShards);
        assertThat(next).isBetween(minShards, Served.MAX_SHARDS);
        assertThat(next == Served.MAX_SHARDS || bytes / next <= maxShardBytes).isTrue();
        assertThat(ShardCount.next(next, bytes, maxShardBytes, minShards)).isEqualTo(next);
    }

    @Test
    void whatCannotBeIsRefused() {
        assertThatThrownBy(() -> ShardCount.next(0, 1, 0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ShardCount.next(0, -1, 1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ShardCount.next(0, 1, 1, 4_097)).isInstanceOf(IllegalArgumentException.class);
    }
}
