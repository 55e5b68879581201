package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Effort;
import io.github.roost.testkit.Machines;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random programs of searches, compared with a sequential model. Every future ends in a way that the model allows: with the model's value or
 * failure, or, where the program cancels it or closes early, with that. {@code -Droost.seed=N} repeats the program that a failure names.
 */
@Tag("stress")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RandomProgramTest {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int MAX_LEVELS = 4;
    private static final int MAX_PARTS = 4;

    /** What a search does. */
    private sealed interface Node {}

    private record Value(int value) implements Node {}

    private record Failing() implements Node {}

    private record Yielding(Node next) implements Node {}

    private record Parking(Arrival arrival, Node next) implements Node {}

    private record Forking(List<Node> parts) implements Node {}

    /** Submits the children as searches of their own and waits for each. */
    private record Joining(List<Node> children) implements Node {}

    /** When the bytes arrive that a search parks for. */
    private enum Arrival {
        BEFORE,
        LATER,
        NEVER_BUT_A_FAILURE
    }

    /** The failure that a program plans. */
    private static final class Planned extends RuntimeException {
        private static final long serialVersionUID = 1;

        Planned() {
            super("planned", null, false, false);
        }
    }

    /** The sequential model: the value, or nothing for a planned failure. */
    private static OptionalInt model(Node node) {
        return switch (node) {
            case Value(int value) -> OptionalInt.of(value);
            case Failing() -> OptionalInt.empty();
            case Yielding(Node next) -> model(next);
            case Parking(Arrival arrival, Node next) ->
                arrival == Arrival.NEVER_BUT_A_FAILURE ? OptionalInt.empty() : model(next);
            case Forking(List<Node> parts) -> sum(parts);
            case Joining(List<Node> children) -> sum(children);
        };
    }

    private static OptionalInt sum(List<Node> nodes) {
        int sum = 0;
        for (Node node : nodes) {
            OptionalInt one = model(node);
            if (one.isEmpty()) {
                return one;
            }
            sum += one.getAsInt();
        }
        return OptionalInt.of(sum);
    }

    private static int leaves(Node node) {
        return switch (node) {
            case Value leaf -> 1;
            case Failing leaf -> 1;
            case Yielding(Node next) -> leaves(next);
            case Parking parking -> leaves(parking.next());
            case Forking(List<Node> parts) ->
                parts.stream().mapToInt(RandomProgramTest::leaves).sum();
            case Joining(List<Node> children) ->
                children.stream().mapToInt(RandomProgramTest::leaves).sum();
        };
    }

    private static Node random(Random random, int levels) {
        if (levels == 0) {
            return random.nextInt(40) == 0 ? new Failing() : new Value(random.nextInt(1_000));
        }
        return switch (random.nextInt(8)) {
            case 0, 1 -> new Yielding(random(random, levels - 1));
            case 2, 3 ->
                new Parking(
                        random.nextInt(40) == 0
                                ? Arrival.NEVER_BUT_A_FAILURE
                                : random.nextBoolean() ? Arrival.BEFORE : Arrival.LATER,
                        random(random, levels - 1));
            case 4, 5 -> new Forking(several(random, levels - 1));
            case 6 -> new Joining(several(random, levels - 1));
            default -> random(random, 0);
        };
    }

    private static List<Node> several(Random random, int levels) {
        return IntStream.range(0, 1 + random.nextInt(MAX_PARTS))
                .mapToObj(i -> random(random, levels))
                .toList();
    }

    /**
     * One search of a program that is running.
     *
     * @param leavesRun counts the leaves that have run, including those of its children
     */
    private record Run(
            String name,
            Node node,
            boolean mayBeCancelled,
            AtomicInteger leavesRun,
            CompletableFuture<Integer> future) {}

    /** Runs a program on an orchestrator. */
    private static final class Program {
        private final long seed;
        private final Random random;
        private final boolean closesEarly;
        private final Orchestrator orchestrator;
        private final Registration table;
        private final Queue<Run> runs = new ConcurrentLinkedQueue<>();
        private final AtomicInteger children = new AtomicInteger();

        Program(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
            this.closesEarly = random.nextInt(3) == 0;
            List<Topology> machines =
                    List.of(Machines.of(1, 1), Machines.of(1, 2), Machines.of(2, 2), Machines.of(1, 18));
            OverloadPolicy policy = switch (random.nextInt(3)) {
                case 0 -> OverloadPolicy.reject();
                case 1 -> OverloadPolicy.callerRuns();
                default -> OverloadPolicy.block(PATIENCE);
            };
            this.orchestrator = Orchestrator.builder()
                    .topology(machines.get(random.nextInt(machines.size())))
                    .pinner(Machines.unpinned())
                    .ringCapacity(1 + random.nextInt(random.nextBoolean() ? 4 : 256))
                    .overloadPolicy(policy)
                    .build();
            this.table = orchestrator.register("table", 5);
        }

        void run() throws InterruptedException {
            int roots = 10 + random.nextInt(30);
            int closeAfter = closesEarly ? random.nextInt(roots) : roots;
            List<CompletableFuture<Integer>> toCancel = new ArrayList<>();
            for (int root = 0; root < roots; root++) {
                Node node = random(random, MAX_LEVELS);
                boolean cancelled = random.nextInt(8) == 0;
                SubmitOptions options = random.nextBoolean() ? SubmitOptions.DEFAULT : SubmitOptions.BATCH;
                AtomicInteger leavesRun = new AtomicInteger();
                try {
                    CompletableFuture<Integer> future = submit(node, options, leavesRun);
                    runs.add(new Run("root " + root, node, cancelled, leavesRun, future));
                    if (cancelled) {
                        toCancel.add(future);
                    }
                } catch (RejectedExecutionException full) {
                    // Nothing was accepted, so there is no future.
                }
                if (random.nextInt(4) == 0) {
                    toCancel.forEach(future -> future.cancel(true));
                }
                if (root == closeAfter) {
                    orchestrator.close(Duration.ofNanos(random.nextInt(2_000_000)));
                }
            }
            toCancel.forEach(future -> future.cancel(true));
            boolean drained = orchestrator.close(PATIENCE);
            assertThat(drained || closesEarly).as("seed %d: drained", seed).isTrue();
            long began = System.nanoTime();
            for (Run run : runs) {
                while (!run.future.isDone() && System.nanoTime() - began < LIMIT_NANOS) {
                    TimeUnit.MILLISECONDS.sleep(1);
                }
                check(run);
            }
        }

        private void check(Run run) {
            String what = "seed " + seed + ", " + run.name + ": " + run.node;
            assertThat(run.future).as(what).isDone();
            assertThat(run.leavesRun.get()).as(what + ": leaves run").isLessThanOrEqualTo(leaves(run.node));
            OptionalInt expected = model(run.node);
            if (run.future.isCancelled()) {
                assertThat(run.mayBeCancelled).as(what + ": cancelled").isTrue();
            } else if (run.future.isCompletedExceptionally()) {
                Throwable cause = root(run.future.exceptionNow());
                boolean allowed = (cause instanceof Planned && expected.isEmpty())
                        || (cause instanceof OrchestratorClosedException && closesEarly);
                assertThat(allowed)
                        .as("%s: model %s, got %s", what, expected, cause)
                        .isTrue();
            } else {
                assertThat(expected).as(what).isEqualTo(OptionalInt.of(run.future.resultNow()));
                assertThat(run.leavesRun.get()).as(what + ": leaves run").isEqualTo(leaves(run.node));
            }
        }

        private static Throwable root(Throwable failure) {
            Throwable cause = failure;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return cause;
        }

        private CompletableFuture<Integer> submit(Node node, SubmitOptions options, AtomicInteger leavesRun) {
            MappingId id = anyId(node);
            if (node instanceof Forking(List<Node> parts)) {
                return orchestrator.fanOut(parts(parts, leavesRun), Program::sumOf, options);
            }
            return orchestrator.indexing().submitSteps(search(node, leavesRun), 0, id, options);
        }

        private MappingId anyId(Node node) {
            return table.id(Math.floorMod(node.hashCode(), table.size()));
        }

        private List<Part<?, Integer>> parts(List<Node> nodes, AtomicInteger leavesRun) {
            List<Part<?, Integer>> parts = new ArrayList<>();
            for (Node node : nodes) {
                parts.add(Part.inSteps(search(node, leavesRun), 0, anyId(node)));
            }
            return parts;
        }

        private static int sumOf(List<Integer> results) {
            return results.stream().mapToInt(Integer::intValue).sum();
        }

        private Search<Integer, Integer> search(Node node, AtomicInteger leavesRun) {
            return switch (node) {
                case Value(int value) ->
                    (query, context) -> {
                        leavesRun.incrementAndGet();
                        return Step.done(value);
                    };
                case Failing() ->
                    (query, context) -> {
                        leavesRun.incrementAndGet();
                        throw new Planned();
                    };
                case Yielding(Node next) -> (query, context) -> new Step.Yield<>(search(next, leavesRun));
                case Parking(Arrival arrival, Node next) ->
                    (query, context) -> new Step.Park<>(pending(arrival), search(next, leavesRun));
                case Forking(List<Node> nodes) ->
                    (query, context) -> Step.fork(parts(nodes, leavesRun), Program::sumOf);
                case Joining(List<Node> nodes) -> (query, context) -> Step.done(join(nodes, leavesRun));
            };
        }

        private int join(List<Node> nodes, AtomicInteger leavesRun) throws Exception {
            List<@Nullable CompletableFuture<Integer>> submitted = new ArrayList<>();
            for (Node node : nodes) {
                AtomicInteger ofChild = new AtomicInteger();
                CompletableFuture<Integer> future = null;
                try {
                    future = submit(node, SubmitOptions.DEFAULT, ofChild);
                    runs.add(new Run("child " + children.getAndIncrement(), node, false, ofChild, future));
                } catch (OrchestratorClosedException closed) {
                    throw closed;
                } catch (RejectedExecutionException full) {
                    // Computed below, in place of a search.
                }
                submitted.add(future);
            }
            int sum = 0;
            for (int i = 0; i < submitted.size(); i++) {
                CompletableFuture<Integer> future = submitted.get(i);
                sum += future == null ? model(nodes.get(i)).orElseThrow(Planned::new) : future.join();
                leavesRun.addAndGet(leaves(nodes.get(i)));
            }
            return sum;
        }

        private static Pending pending(Arrival arrival) {
            Pending pending = new Pending();
            switch (arrival) {
                case BEFORE -> pending.complete();
                case LATER ->
                    CompletableFuture.delayedExecutor(100, TimeUnit.MICROSECONDS)
                            .execute(pending::complete);
                case NEVER_BUT_A_FAILURE ->
                    CompletableFuture.delayedExecutor(100, TimeUnit.MICROSECONDS)
                            .execute(() -> pending.completeExceptionally(new Planned()));
            }
            return pending;
        }
    }

    @Test
    void everyFutureEndsInAWayThatTheModelAllows() throws InterruptedException {
        long first = Long.getLong("roost.seed", System.nanoTime());
        for (int i = 0; i < Effort.times(200); i++) {
            new Program(first + i).run();
        }
    }
}
