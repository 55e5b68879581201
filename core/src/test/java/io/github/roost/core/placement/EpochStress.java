package io.github.roost.core.placement;

import io.github.roost.core.mapping.Mapping;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** {@link Epochs} while two tasks come and go, each in a worker's own lane, and one of them publishes the next epoch. */
@JCStressTest
@Outcome(
        id = "false, false, true",
        expect = Expect.ACCEPTABLE,
        desc = "not retired while a task was inside, retired after")
@Outcome(expect = Expect.FORBIDDEN, desc = "retired under a task, or never")
@State
public class EpochStress {
    private final Mapping mapping = Mapping.of(1, new int[] {0});
    private final Epochs epochs = new Epochs(mapping, 2);
    private final Epoch first = epochs.current();

    @Actor
    public void task(ZZZ_Result result) {
        first.enter(0, 1);
        if (first == epochs.current()) {
            result.r1 = first.retired().isDone();
        }
        first.exitOwn(1);
    }

    @Actor
    public void publisher(ZZZ_Result result) {
        first.enter(1, 1);
        epochs.publish(mapping);
        epochs.retireEmpty();
        result.r2 = first.retired().isDone();
        first.exitOwn(0);
    }

    @Arbiter
    public void afterwards(ZZZ_Result result) {
        epochs.retireEmpty();
        result.r3 = first.retired().isDone();
    }
}
