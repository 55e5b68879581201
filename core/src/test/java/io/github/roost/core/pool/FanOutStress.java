package io.github.roost.core.pool;

import io.github.roost.core.Machines;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Part;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The completion of a {@link FanOut} whose parts end at the same moment, one of them offered to two threads. */
@JCStressTest
@Outcome(id = "1, 111", expect = Expect.ACCEPTABLE, desc = "merged once, with every part's result")
@Outcome(expect = Expect.FORBIDDEN, desc = "merged twice, never, or without a result")
@State
public class FanOutStress {
    private static final MappingId ID = anyId();

    private final AtomicInteger merges = new AtomicInteger();
    private final FanOut<Integer, Integer> fanOut = new FanOut<>(
            List.of(part(1), part(10), part(100)),
            results -> {
                merges.incrementAndGet();
                return results.stream().mapToInt(Integer::intValue).sum();
            },
            StressTasks.epoch(),
            Task.NOT_TIMED,
            Task.NO_DEADLINE);
    private final List<? extends Task> parts = fanOut.parts();

    private static MappingId anyId() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            return orchestrator.register("stress").id();
        }
    }

    private static Part<Integer, Integer> part(int result) {
        return new Part<>((query, context) -> query, result, ID);
    }

    @Actor
    public void worker1() {
        run(parts.get(0));
        run(parts.get(2));
    }

    @Actor
    public void worker2() {
        run(parts.get(1));
        run(parts.get(2));
    }

    private static void run(Task task) {
        if (task.claim()) {
            task.run(new CallerContext(task, 0, (context, outcome) -> {}));
        }
    }

    @Arbiter
    public void afterwards(II_Result result) {
        result.r1 = merges.get();
        result.r2 = fanOut.getNow(-1);
    }
}
