package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.policy.CrossDomainGate;
import org.junit.jupiter.api.Test;

class CrossDomainGateTest {
    @Test
    void anAgeBelowZeroIsRefused() {
        assertThat(new CrossDomainGate(0).ageNanos()).isZero();
        assertThatThrownBy(() -> new CrossDomainGate(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got -1");
    }
}
