package io.github.roost.core.pool;

import io.github.roost.core.placement.Epoch;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A {@link TaskList} that two threads put tasks into and take them out of: each is taken once. */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "each taken once")
@Outcome(expect = Expect.FORBIDDEN, desc = "lost, taken twice, or miscounted")
@State
public class ListStress {
    private static final Epoch EPOCH = StressTasks.epoch();

    private final TaskList list = new TaskList();
    private final Task one = StressTasks.task(EPOCH);
    private final Task other = StressTasks.task(EPOCH);
    private int ofOne;
    private int ofOther;

    private @Nullable Task takenFirst;
    private @Nullable Task takenSecond;

    @Actor
    public void first() {
        list.add(one);
        takenFirst = list.poll();
    }

    @Actor
    public void second() {
        list.add(other);
        takenSecond = list.poll();
    }

    @Arbiter
    public void afterwards(III_Result result) {
        count(takenFirst);
        count(takenSecond);
        for (Task left = list.poll(); left != null; left = list.poll()) {
            count(left);
        }
        result.r1 = ofOne;
        result.r2 = ofOther;
        result.r3 = list.size();
    }

    private void count(@Nullable Task task) {
        if (task == one) {
            ofOne++;
        } else if (task == other) {
            ofOther++;
        }
    }
}
