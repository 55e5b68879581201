package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BudgetTest {
    private final Budget budget = new Budget(1_000, 10);

    @Test
    void aConnectionTakesAQuarterExceptForItsOnlyCall() {
        assertThat(budget.tryTake("a", 700)).isTrue();
        assertThat(budget.tryTake("a", 1)).isFalse();
        assertThat(budget.tryTake("b", 30)).isTrue();
        assertThat(budget.tryTake("b", 20)).isTrue();
        budget.giveBack("a", 700);
        assertThat(budget.tryTake("b", 200)).isTrue();
        assertThat(budget.tryTake("b", 1)).isFalse();
        budget.giveBack("b", 50);
        assertThat(budget.tryTake("b", 50)).isTrue();
        assertThat(budget.taken()).isEqualTo(250);
    }

    @Test
    void largeOnesLeaveAQuarterForSmallOnes() {
        assertThat(budget.tryTake("a", 250)).isTrue();
        assertThat(budget.tryTake("b", 250)).isTrue();
        assertThat(budget.tryTake("c", 251)).isFalse();
        assertThat(budget.tryTake("c", 250)).isTrue();
        assertThat(budget.tryTake("d", 11)).isFalse();
        for (int i = 0; i < 25; i++) {
            assertThat(budget.tryTake("small " + i, 10)).isTrue();
        }
        assertThat(budget.tryTake("last", 1)).isFalse();
        assertThat(budget.taken()).isEqualTo(1_000);
    }

    @Test
    void theOnlyOneOfAllMayBeAsLargeAsItNeeds() {
        assertThat(budget.tryTake("a", 1_000)).isTrue();
        assertThat(budget.tryTake("b", 1)).isFalse();
    }

    @Test
    void whoWaitsGetsWhatIsGivenBackOrNothingInTime() throws Exception {
        assertThat(budget.tryTake("a", 900)).isTrue();
        CompletableFuture<Boolean> waits = CompletableFuture.supplyAsync(() -> {
            try {
                return budget.take("b", 800, System.nanoTime() + TimeUnit.MINUTES.toNanos(1));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(budget.take("c", 800, System.nanoTime() + 1_000_000)).isFalse();
        assertThat(waits).isNotDone();
        budget.giveBack("a", 900);
        assertThat(waits.get(1, TimeUnit.MINUTES)).isTrue();
        assertThat(budget.taken()).isEqualTo(800);
    }
}
