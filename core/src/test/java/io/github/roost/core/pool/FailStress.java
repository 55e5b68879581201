package io.github.roost.core.pool;

import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.task.Request;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** A {@link Request} that is failed from outside as it begins to run. */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "the search was faster")
@Outcome(id = "OrchestratorClosedException", expect = Expect.ACCEPTABLE, desc = "failed with the cause given")
@Outcome(expect = Expect.FORBIDDEN, desc = "ran without its search or its query")
@State
public class FailStress {
    private final Request<Integer, Integer> task = StressTasks.task(StressTasks.epoch());

    @Actor
    public void worker() {
        task.run(StressTasks.context(task));
    }

    @Actor
    public void closer() {
        task.fail(new OrchestratorClosedException());
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = task.handle((found, failure) -> failure == null
                        ? String.valueOf(found)
                        : failure.getClass().getSimpleName())
                .join();
    }
}
