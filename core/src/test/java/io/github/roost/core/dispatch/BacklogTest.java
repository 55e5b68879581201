package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.policy.CrossDomainGate;
import org.junit.jupiter.api.Test;

class BacklogTest {
    private static final int WORKERS = 8;
    /** Backlogged from 16 on, deep from 64 on. */
    private static final CrossDomainGate GATE = new CrossDomainGate(2, 200, 8, 2_000);

    @Test
    void aQueueBelowTheMarkIsNoBacklog() {
        Backlog backlog = Backlog.NONE.next(GATE, 15, WORKERS, 0, 100);
        assertThat(backlog).isSameAs(Backlog.NONE);
        assertThat(backlog.exists()).isFalse();
        assertThat(backlog.lasts(0, Long.MAX_VALUE)).isFalse();
        assertThat(backlog.isDeepFor(0, Long.MAX_VALUE)).isFalse();
    }

    @Test
    void itBeginsAtTheLookThatFindsItAndThenKeepsItsAge() {
        Backlog begun = Backlog.NONE.next(GATE, 16, WORKERS, 0, 100);
        assertThat(begun.since()).isEqualTo(100);
        assertThat(begun.next(GATE, 40, WORKERS, 0, 250)).isSameAs(begun);
        assertThat(begun.lasts(200, 299)).isFalse();
        assertThat(begun.lasts(200, 300)).isTrue();
    }

    @Test
    void itEndsAsSoonAsFewerWaitAndThenBeginsAnew() {
        Backlog begun = Backlog.NONE.next(GATE, 16, WORKERS, 0, 100);
        Backlog ended = begun.next(GATE, 15, WORKERS, 0, 150);
        assertThat(ended).isSameAs(Backlog.NONE);
        assertThat(ended.next(GATE, 16, WORKERS, 0, 160).lasts(200, 300)).isFalse();
    }

    @Test
    void aFloodBegunGoesOnDownToTheLowerMark() {
        Backlog deep = Backlog.NONE.next(GATE, 16, WORKERS, 0, 100).next(GATE, 64, WORKERS, 0, 500);
        assertThat(deep).isEqualTo(new Backlog(100, 500, WORKERS));
        assertThat(deep.isDeepFor(2_000, 2_499)).isFalse();
        assertThat(deep.isDeepFor(2_000, 2_500)).isTrue();
        Backlog drained = deep.next(GATE, 63, WORKERS, 0, 3_000).next(GATE, 16, WORKERS, 0, 4_000);
        assertThat(drained.isDeepFor(2_000, 4_000)).isTrue();
        assertThat(drained.next(GATE, 15, WORKERS, 0, 4_001).isDeepFor(0, 5_000))
                .isFalse();
    }

    @Test
    void aQueueBetweenTheMarksIsNotDeepHoweverLong() {
        Backlog backlog = Backlog.NONE.next(GATE, 63, WORKERS, 0, 0);
        assertThat(backlog.next(GATE, 63, WORKERS, 0, 1_000_000).isDeepFor(0, 1_000_000))
                .isFalse();
    }

    @Test
    void aRoundIsOverWhenTheFreeWorkersHaveATaskAndEveryWorkerCouldTakeAnother() {
        int idle = 3;
        Backlog backlog = Backlog.NONE.next(GATE, 40, WORKERS, idle, 100);
        for (int task = 0; task < idle + WORKERS; task++) {
            assertThat(backlog.outlastsARound()).as("%d tasks taken", task).isFalse();
            backlog = backlog.taken().next(GATE, 40, WORKERS, 0, 110);
        }
        assertThat(backlog.outlastsARound()).isTrue();
        assertThat(backlog.taken()).isSameAs(backlog);
        assertThat(backlog.since()).isEqualTo(100);
        assertThat(Backlog.NONE.outlastsARound()).as("no backlog").isFalse();
    }

    @Test
    void theClockMayPassItsLargestNumber() {
        long before = Long.MAX_VALUE - 50;
        Backlog begun = Backlog.NONE.next(GATE, 64, WORKERS, 0, before);
        assertThat(begun.lasts(200, before + 199)).isFalse();
        assertThat(begun.lasts(200, before + 200)).isTrue();
        assertThat(begun.isDeepFor(2_000, before + 2_000)).isTrue();
    }

    @Test
    void anUnboundedMarkIsNeverReached() {
        CrossDomainGate never = new CrossDomainGate(Integer.MAX_VALUE, 0);
        assertThat(never.floodPerWorker()).isEqualTo(Integer.MAX_VALUE);
        assertThat(Backlog.NONE.next(never, Integer.MAX_VALUE, WORKERS, 0, 0)).isSameAs(Backlog.NONE);
    }

    @Test
    void marksAndTimesOfTheGateAreChecked() {
        assertThatThrownBy(() -> new CrossDomainGate(2, -1)).hasMessageContaining("at least 0 ns, got -1");
        assertThatThrownBy(() -> new CrossDomainGate(4, 0, 3, 0)).hasMessageContaining("4, got 3");
        assertThatThrownBy(() -> new CrossDomainGate(4, 0, 4, -2)).hasMessageContaining("at least 0 ns, got -2");
    }
}
