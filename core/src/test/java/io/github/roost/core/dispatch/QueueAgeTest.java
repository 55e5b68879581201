package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class QueueAgeTest {
    private static final long BOUND = 200;

    @Test
    void aTaskIsOldWhenTheMarkBehindItIsAsOldAsTheBound() {
        QueueAge marked = QueueAge.NONE.next(0, 3, 1_000, BOUND).next(0, 4, 1_100, BOUND);
        assertThat(marked.old(0)).isZero();
        assertThat(marked.next(0, 5, 1_199, BOUND).old(0)).isZero();
        QueueAge old = marked.next(0, 5, 1_200, BOUND);
        assertThat(old.old(0)).as("the two put since are young").isEqualTo(3);
        assertThat(old.old(2)).isEqualTo(1);
        assertThat(old.old(4)).isZero();
        assertThat(old.next(3, 5, 1_300, BOUND).old(3)).isEqualTo(1);
        assertThat(old.next(3, 5, 1_300, BOUND).next(3, 5, 1_400, BOUND).old(3)).isEqualTo(2);
    }

    @Test
    void aQueueThatIsTakenAsFastAsItIsFilledIsNeverOld() {
        QueueAge age = QueueAge.NONE;
        for (int look = 0; look < 1_000; look++) {
            long taken = 2L * look;
            age = age.next(taken, taken + 2, look * 1_000L, BOUND);
            assertThat(age.old(taken)).isZero();
        }
    }

    @Test
    void withABoundOfZeroWhatWaitsAtThreeLooksIsOld() {
        QueueAge age = QueueAge.NONE.next(0, 1, 7, 0).next(0, 1, 7, 0);
        assertThat(age.old(0)).isZero();
        assertThat(age.next(0, 1, 7, 0).old(0)).isEqualTo(1);
    }

    @Test
    void aLookThatChangesNothingMakesNoNewValue() {
        assertThat(QueueAge.NONE.next(0, 0, 5, BOUND)).isSameAs(QueueAge.NONE);
        QueueAge marked = QueueAge.NONE.next(4, 9, 5, BOUND);
        assertThat(marked.next(8, 20, 104, BOUND)).isSameAs(marked);
        assertThat(marked.next(9, 9, 10_000, BOUND)).as("empty").isSameAs(marked);
    }

    @Test
    void timesMayOverflow() {
        long late = Long.MAX_VALUE - 50;
        QueueAge marked = QueueAge.NONE.next(0, 1, late, BOUND).next(0, 1, late + BOUND / 2, BOUND);
        assertThat(marked.next(0, 1, late + BOUND - 1, BOUND).old(0)).isZero();
        assertThat(marked.next(0, 1, late + BOUND, BOUND).old(0)).isEqualTo(1);
    }

    @Test
    void noTaskIsOldBeforeOneBoundAndEveryOneIsAfterOneAndAHalfAndThreeLooks() {
        SplittableRandom random = new SplittableRandom(5);
        for (int trace = 0; trace < 200; trace++) {
            long interval = random.nextLong(1, BOUND);
            Deque<Long> waiting = new ArrayDeque<>();
            QueueAge age = QueueAge.NONE;
            long taken = 0;
            long put = 0;
            long nextLook = 0;
            for (long now = 0; now < 20 * BOUND; now++) {
                if (random.nextInt(50) == 0) {
                    waiting.add(now);
                    put++;
                }
                if (!waiting.isEmpty() && random.nextInt(60) == 0) {
                    waiting.remove();
                    taken++;
                }
                if (now == nextLook) {
                    age = age.next(taken, put, now, BOUND);
                    nextLook += random.nextLong(1, interval + 1);
                }
                long old = age.old(taken);
                long surely = 0;
                long perhaps = 0;
                for (long since : waiting) {
                    surely += now - since > BOUND + BOUND / 2 + 3 * interval ? 1 : 0;
                    perhaps += now - since >= BOUND ? 1 : 0;
                }
                assertThat(old).isBetween(surely, perhaps);
            }
        }
    }
}
