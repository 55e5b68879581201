package io.github.roost.core;

import static io.github.roost.core.TestBed.done;
import static io.github.roost.core.TestBed.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A future that is kept after its end, as a cache of answers keeps it, keeps nothing but its result. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeptFutureTest {
    private static final int EPOCHS = 60;
    /** The mapping in force, and those that a thread has in its hands. */
    private static final int MAPPINGS_IN_USE = 8;

    @RegisterExtension
    final TestBed bed = new TestBed();

    /** The query: an object of its own, which nothing else refers to. */
    private static final class Query {}

    /** The search: an object of its own. */
    private static final class Work implements SearchFunction<Object, Integer> {
        @Override
        public Integer search(Object query, SearchContext context) {
            context.touched(1, 100);
            return 1;
        }
    }

    private static final class Failing implements SearchFunction<Object, Integer> {
        @Override
        public Integer search(Object query, SearchContext context) {
            throw new IllegalStateException("on purpose");
        }
    }

    /** What a future was made by, and how it ended. */
    enum Kind {
        SEARCH {
            @Override
            CompletableFuture<?> submit(
                    Orchestrator orchestrator, Object query, Registration table, List<Object> made) {
                return orchestrator.submit(add(made, new Work()), query, table.id(0));
            }
        },
        FAILED {
            @Override
            CompletableFuture<?> submit(
                    Orchestrator orchestrator, Object query, Registration table, List<Object> made) {
                return orchestrator.submit(add(made, new Failing()), query, table.id(0));
            }
        },
        CANCELLED {
            @Override
            CompletableFuture<?> submit(
                    Orchestrator orchestrator, Object query, Registration table, List<Object> made) {
                CompletableFuture<Integer> future = orchestrator.submit(add(made, new Work()), query, table.id(0));
                future.cancel(true);
                return future;
            }
        },
        EXPIRED {
            @Override
            CompletableFuture<?> submit(
                    Orchestrator orchestrator, Object query, Registration table, List<Object> made) {
                SubmitOptions soon = SubmitOptions.DEFAULT.withTimeout(Duration.ofNanos(1));
                return orchestrator.submit(add(made, new Work()), query, table.id(0), soon);
            }
        },
        STEPS {
            @Override
            CompletableFuture<?> submit(
                    Orchestrator orchestrator, Object query, Registration table, List<Object> made) {
                Work last = add(made, new Work());
                Search<Object, Integer> first = (same, context) -> {
                    Pending pending = new Pending();
                    pending.complete();
                    return new Step.Park<>(pending, last);
                };
                return orchestrator.indexing().submitSteps(add(made, first), query, table.id(0), SubmitOptions.DEFAULT);
            }
        },
        FAN_OUT {
            @Override
            CompletableFuture<?> submit(
                    Orchestrator orchestrator, Object query, Registration table, List<Object> made) {
                Work part = add(made, new Work());
                return orchestrator.fanOut(
                        List.of(new Part<>(part, query, table.id(0)), new Part<>(part, query, table.id(1))),
                        List::size);
            }
        },
        SHARED {
            @Override
            CompletableFuture<?> submit(
                    Orchestrator orchestrator, Object query, Registration table, List<Object> made) {
                Indexing.BatchQueue<Object, Integer> queue = orchestrator
                        .indexing()
                        .batchQueue(table.id(0), (group, context) -> {
                            for (int i = 0; i < group.size(); i++) {
                                group.answer(i, i);
                            }
                            return Step.done(true);
                        });
                return orchestrator.indexing().submitShared(add(made, queue), query, SubmitOptions.DEFAULT);
            }
        },
        MAINTENANCE {
            @Override
            CompletableFuture<?> submit(
                    Orchestrator orchestrator, Object query, Registration table, List<Object> made) {
                return orchestrator.indexing().maintenance(table.id(0), context -> query.hashCode() == 0);
            }
        };

        /** @param made receives what nothing but the future refers to after its end */
        abstract CompletableFuture<?> submit(
                Orchestrator orchestrator, Object query, Registration table, List<Object> made);

        private static <T> T add(List<Object> made, T object) {
            made.add(object);
            return object;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aKeptFutureKeepsNeitherQueryNorSearchNorTable(Kind kind) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        List<WeakReference<Object>> references = new ArrayList<>();
        CompletableFuture<?> kept = submit(kind, orchestrator, references);
        useTheWorkerForOthers(orchestrator);
        for (WeakReference<Object> reference : references) {
            awaitCleared(List.of(reference), 0);
        }
        assertThat(kept).isDone();
    }

    /** In a method of its own, so that the test's frame refers to none of the objects. */
    private static CompletableFuture<?> submit(
            Kind kind, Orchestrator orchestrator, List<WeakReference<Object>> references) throws Exception {
        List<Object> made = new ArrayList<>();
        Query query = new Query();
        made.add(query);
        Registration table = orchestrator.register("table", 2);
        made.add(table);
        CompletableFuture<?> future = kind.submit(orchestrator, query, table, made);
        done(List.of(future));
        table.close();
        made.forEach(object -> references.add(new WeakReference<>(object)));
        return future;
    }

    /** What the worker did last, and the epochs before, are replaced by others. */
    private static void useTheWorkerForOthers(Orchestrator orchestrator) throws Exception {
        MappingId id = orchestrator.register("other").id();
        for (int i = 0; i < 100; i++) {
            for (Priority priority : Priority.values()) {
                var _ = get(orchestrator.submit(TestBed.SAME, i, id, new SubmitOptions(priority, Duration.ZERO)));
            }
        }
        for (int i = 0; i < 3; i++) {
            var _ = get(orchestrator.indexing().quiesce().toCompletableFuture());
            orchestrator.indexing().endWindow();
        }
    }

    @Test
    void aKeptFutureKeepsNoClosedOrchestrator() throws Exception {
        List<WeakReference<Object>> references = new ArrayList<>();
        CompletableFuture<Integer> kept = searchAndClose(references);
        awaitCleared(references, 0);
        assertThat(kept).isCompletedWithValue(1);
    }

    private static CompletableFuture<Integer> searchAndClose(List<WeakReference<Object>> references) throws Exception {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            references.add(new WeakReference<>(orchestrator));
            CompletableFuture<Integer> future = orchestrator.submit(
                    new Work(), new Query(), orchestrator.register("table").id());
            done(List.of(future));
            return future;
        }
    }

    @Test
    void futuresOfManyEpochsKeepNoMapping() throws Exception {
        Queue<WeakReference<Object>> mappings = new ConcurrentLinkedQueue<>();
        MappingPolicy staying = (current, traffic) -> {
            mappings.add(new WeakReference<>(current));
            return current;
        };
        Orchestrator orchestrator = bed.open(Machines.orchestrator(2, 1).mappingPolicy(staying));
        Registration table = orchestrator.register("table", 4);
        List<CompletableFuture<Integer>> kept = new ArrayList<>();
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            CompletableFuture<Integer> future = orchestrator.submit(new Work(), new Query(), table.id(epoch % 4));
            assertThat(get(future)).isOne();
            kept.add(future);
            // Publishes a mapping without the table of the previous round and one with that of this round.
            orchestrator.register("other").close();
            orchestrator.indexing().endWindow();
        }
        useTheWorkerForOthers(orchestrator);
        assertThat(mappings).hasSizeGreaterThanOrEqualTo(EPOCHS);
        awaitCleared(mappings, MAPPINGS_IN_USE);
        assertThat(kept).hasSize(EPOCHS).allSatisfy(future -> assertThat(future).isDone());
    }

    private static void awaitCleared(Iterable<WeakReference<Object>> references, int mayStay)
            throws InterruptedException {
        List<String> left = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            System.gc();
            left.clear();
            for (WeakReference<Object> reference : references) {
                Object referent = reference.get();
                if (referent != null) {
                    left.add(referent.getClass().getName());
                }
            }
            if (left.size() <= mayStay) {
                return;
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
        assertThat(left).as("objects that are still reachable").hasSizeLessThanOrEqualTo(mayStay);
    }
}
