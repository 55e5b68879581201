package io.github.roost.bench.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ThroughputTest {
    @Test
    void aFutureIsOneObjectOfAHeaderAndTwoReferences() {
        // 24 bytes with 4 bytes per reference, 32 with 8; 16 with compact headers.
        assertThat(Throughput.futureBytes()).isIn(16L, 24L, 32L);
    }
}
