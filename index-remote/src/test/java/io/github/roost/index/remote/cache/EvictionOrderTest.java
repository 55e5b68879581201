package io.github.roost.index.remote.cache;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EvictionOrderTest {
    @Test
    void thePartitionWithTheLeastLateTrafficGoesFirst() {
        EvictionOrder order = new EvictionOrder(3);
        order.look(new long[] {100, 10, 10});
        assertThat(order.goesFirst(1, 9, 0, 1)).isTrue();
        // Of two with the same traffic the one that was used longer ago.
        assertThat(order.goesFirst(1, 3, 2, 4)).isTrue();
        assertThat(order.goesFirst(1, 5, 2, 4)).isFalse();
        // What was much is half as much with each look: 25 against 45.
        order.look(new long[] {100, 50, 10});
        order.look(new long[] {100, 50, 10});
        assertThat(order.goesFirst(0, 1, 1, 1)).isFalse();
        order.look(new long[] {100, 90, 10});
        assertThat(order.goesFirst(0, 1, 1, 1)).isTrue();
    }
}
