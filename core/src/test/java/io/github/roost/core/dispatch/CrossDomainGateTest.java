package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.policy.CrossDomainGate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CrossDomainGateTest {
    private static final CrossDomainGate GATE = new CrossDomainGate(2, 200, 8, 2_000);
    private static final Backlog BACKLOGGED = new Backlog(0, Backlog.NEVER, 0);
    private static final Backlog DEEP = new Backlog(0, 1_000, 0);

    @ParameterizedTest
    @CsvSource({
        "8, 8, 200, true",
        "8, 8, 199, false",
        // One of the domain is busy with a task of its own.
        "7, 7, 1000000, false",
        // All but the thief run tasks that have crossed: these are as good as free.
        "8, 1, 200, true",
        "8, 1, 199, false",
        "7, 1, 1000000, false",
    })
    void aBurstIsForADomainWithNothingOfItsOwnToDo(int free, int idle, long now, boolean opens) {
        assertThat(BACKLOGGED.opens(GATE, free, idle, 8, now)).isEqualTo(opens);
    }

    @Test
    void aBurstThatItsDomainTakesInOneRoundOpensItOnlyWhereTasksAreLong() {
        Backlog first = new Backlog(0, Backlog.NEVER, 1);
        assertThat(first.opens(GATE, 8, 8, 8, 1_999)).isFalse();
        assertThat(first.taken().opens(GATE, 8, 8, 8, 200)).isTrue();
        assertThat(first.opens(GATE, 8, 8, 8, 2_000)).isTrue();
        assertThat(first.opens(GATE, 7, 7, 8, 1_000_000)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "8, 2, 3000, true",
        "8, 2, 2999, false",
        "8, 1, 3000, false",
        "16, 3, 3000, true",
        "16, 2, 3000, false",
        // A domain of fewer than eight has no reserve.
        "7, 1, 3000, true",
        "2, 1, 3000, true",
        "2, 0, 3000, false",
    })
    void aFloodIsForWhoeverIsIdleButTheReserve(int workers, int idle, long now, boolean opens) {
        assertThat(DEEP.opens(GATE, idle, idle, workers, now)).isEqualTo(opens);
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "7, 0", "8, 1", "15, 1", "16, 2", "72, 9"})
    void oneOfEightIsReserved(int workers, int reserved) {
        assertThat(CrossDomainGate.reserve(workers)).isEqualTo(reserved);
    }

    @Test
    void withoutABacklogItIsClosedToAll() {
        assertThat(Backlog.NONE.opens(GATE, 8, 8, 8, Long.MAX_VALUE)).isFalse();
    }

    @Test
    void aFloodOpensItAsAQueueDrainsAndStaysBelowItsMarkUntilThatIsAllButGone() {
        Backlog backlog = Backlog.NONE;
        int[] waiting = {64, 64, 40, 16, 15, 40};
        boolean[] opens = {false, true, true, true, false, false};
        for (int look = 0; look < waiting.length; look++) {
            long now = 2_000L * look;
            backlog = backlog.next(GATE, waiting[look], 8, 0, now);
            assertThat(backlog.opens(GATE, 4, 4, 8, now)).as("look %d", look).isEqualTo(opens[look]);
        }
    }
}
