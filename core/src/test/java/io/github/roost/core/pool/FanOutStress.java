package io.github.roost.core.pool;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Part;
import io.github.roost.core.Priority;
import io.github.roost.core.spi.Step;
import io.github.roost.core.task.Join;
import io.github.roost.core.task.PartTask;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.TaskQueue;
import io.github.roost.testkit.Machines;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The completion of a {@link Request} of parts whose parts end at the same moment, one of them offered to two threads. */
@JCStressTest
@Outcome(id = "1, 111", expect = Expect.ACCEPTABLE, desc = "merged once, with every part's result")
@Outcome(expect = Expect.FORBIDDEN, desc = "merged twice, never, or without a result")
@State
public class FanOutStress {
    private static final MappingId ID = anyId();

    private final AtomicInteger merges = new AtomicInteger();
    private final Request<Integer, Integer> request = new Request<>(
            Request.Kind.PARTS,
            null,
            0,
            0,
            StressTasks.epoch(),
            Priority.INTERACTIVE,
            Task.NOT_TIMED,
            Task.NO_DEADLINE);
    private final List<Part<Integer, Integer>> all = List.of(part(1), part(10), part(100));
    private final Join join = new Join(
            request,
            new Step.Fork<Integer, Object, Integer, Integer>(all, List.of(), null, (query, results, context) -> {
                merges.incrementAndGet();
                return Step.done(results.stream().mapToInt(Integer::intValue).sum());
            }));
    private final List<PartTask> parts = List.of(
            new PartTask(join, all.get(0), 0), new PartTask(join, all.get(1), 1), new PartTask(join, all.get(2), 2));

    private final TaskQueue queue = new TaskQueue();

    public FanOutStress() {
        queue.put(parts.get(2));
        request.work(join);
        join.countOff(1, FanOutStress::resume);
    }

    private static void resume(Task task) {
        task.run(StressTasks.context(task));
    }

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
        run(queue.poll());
    }

    @Actor
    public void worker2() {
        run(parts.get(1));
        run(queue.poll());
    }

    private static void run(@Nullable Task task) {
        if (task != null) {
            task.run(StressTasks.context(task));
            task.deliver(FanOutStress::resume);
        }
    }

    @Arbiter
    public void afterwards(II_Result result) {
        result.r1 = merges.get();
        result.r2 = request.getNow(-1);
    }
}
