package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BudgetTest {
    /** More than what is free for any connection. */
    private static final long UNIT = 100_000;

    private final Budget budget = new Budget(1_000 * UNIT);

    @Test
    void aConnectionTakesAQuarterExceptForItsOnlyCall() {
        assertThat(budget.tryTake("a", 700 * UNIT)).isTrue();
        assertThat(budget.tryTake("a", 1 * UNIT)).isFalse();
        assertThat(budget.tryTake("b", 30 * UNIT)).isTrue();
        assertThat(budget.tryTake("b", 20 * UNIT)).isTrue();
        budget.giveBack("a", 700 * UNIT);
        assertThat(budget.tryTake("b", 200 * UNIT)).isTrue();
        assertThat(budget.tryTake("b", 1 * UNIT)).isFalse();
        budget.giveBack("b", 50 * UNIT);
        assertThat(budget.tryTake("b", 50 * UNIT)).isTrue();
        assertThat(budget.taken()).isEqualTo(250 * UNIT);
    }

    @Test
    void theOnlyOneOfAllMayBeAsLargeAsItNeeds() {
        assertThat(budget.tryTake("a", 1_000 * UNIT)).isTrue();
        assertThat(budget.tryTake("b", 1 * UNIT)).isFalse();
    }

    @Test
    void aLittleIsFreeForAnyConnection() {
        assertThat(budget.tryTake("a", 1_000 * UNIT)).isTrue();
        CompletableFuture<Boolean> waits = waits("b", UNIT);
        assertThat(budget.tryTake("b", 60_000)).isTrue();
        assertThat(budget.tryTake("b", 5_000)).isTrue();
        assertThat(budget.tryTake("b", 5_000)).isFalse();
        assertThat(budget.tryTake("c", 65_536)).isTrue();
        assertThat(budget.tryTake("d", 65_537)).isFalse();
        budget.giveBack("b", 65_000);
        budget.giveBack("a", 1_000 * UNIT);
        assertThat(waits.join()).isTrue();
    }

    private CompletableFuture<Boolean> waits(String connection, long bytes) {
        CompletableFuture<Boolean> turn = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                turn.complete(budget.take(connection, bytes, System.nanoTime() + TimeUnit.MINUTES.toNanos(1)));
            } catch (InterruptedException e) {
                turn.completeExceptionally(e);
            }
        });
        while (thread.getState() != Thread.State.TIMED_WAITING && thread.isAlive()) {
            Thread.onSpinWait();
        }
        return turn;
    }

    @Test
    void whoWaitsGetsWhatIsGivenBackOrNothingInTime() throws Exception {
        assertThat(budget.tryTake("a", 900 * UNIT)).isTrue();
        CompletableFuture<Boolean> waits = waits("b", 800 * UNIT);
        assertThat(budget.take("c", 800 * UNIT, System.nanoTime() + 1_000_000)).isFalse();
        assertThat(waits).isNotDone();
        budget.giveBack("a", 900 * UNIT);
        assertThat(waits.get(1, TimeUnit.MINUTES)).isTrue();
        assertThat(budget.taken()).isEqualTo(800 * UNIT);
    }

    @Test
    void whoWaitsForMuchIsNotOvertaken() throws Exception {
        assertThat(budget.tryTake("a", 100 * UNIT)).isTrue();
        CompletableFuture<Boolean> much = waits("b", 950 * UNIT);
        CompletableFuture<Boolean> little = waits("c", 100 * UNIT);
        assertThat(budget.tryTake("d", 1 * UNIT)).isFalse();
        assertThat(little).isNotDone();
        budget.giveBack("a", 100 * UNIT);
        assertThat(much.get(1, TimeUnit.MINUTES)).isTrue();
        assertThat(little).isNotDone();
        budget.giveBack("b", 950 * UNIT);
        assertThat(little.get(1, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    void aConnectionWithTooMuchHoldsUpNoOther() throws Exception {
        assertThat(budget.tryTake("a", 200 * UNIT)).isTrue();
        CompletableFuture<Boolean> own = waits("a", 300 * UNIT);
        CompletableFuture<Boolean> next = waits("a", 10 * UNIT);
        assertThat(waits("b", 250 * UNIT).get(1, TimeUnit.MINUTES)).isTrue();
        assertThat(own).isNotDone();
        assertThat(next).isNotDone();
        budget.giveBack("a", 200 * UNIT);
        assertThat(own.get(1, TimeUnit.MINUTES)).isTrue();
        budget.giveBack("a", 300 * UNIT);
        assertThat(next.get(1, TimeUnit.MINUTES)).isTrue();
    }
}
