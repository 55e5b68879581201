package io.github.roost.core;

import static io.github.roost.core.TestBed.SAME;
import static io.github.roost.core.TestBed.await;
import static io.github.roost.core.TestBed.get;
import static io.github.roost.core.TestBed.holding;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.testkit.Await;
import io.github.roost.testkit.Effort;
import io.github.roost.testkit.Machines;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Submissions that find no room, or compete for it. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitingSubmittersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PLACES = 4;

    @RegisterExtension
    final TestBed bed = new TestBed();

    /** A thread that submits one search and waits for room; the search answers with its query. */
    private record Submitter(Thread thread, FutureTask<CompletableFuture<Integer>> submission) {
        static Submitter of(
                Orchestrator orchestrator, SearchFunction<Integer, Integer> search, int query, MappingId id) {
            FutureTask<CompletableFuture<Integer>> submission =
                    new FutureTask<>(() -> orchestrator.submit(search, query, id));
            Thread thread = Thread.ofPlatform().daemon().start(submission);
            Await.until(() -> thread.getState() == Thread.State.WAITING
                    || thread.getState() == Thread.State.TIMED_WAITING
                    || submission.isDone());
            return new Submitter(thread, submission);
        }

        int answer() throws Exception {
            return get(get(submission));
        }
    }

    /** An orchestrator whose only worker is busy and whose only place is taken. */
    private MappingId full(CountDownLatch gate, List<Orchestrator> opened) throws Exception {
        Orchestrator orchestrator =
                bed.open(Machines.orchestrator(1, 1).ringCapacity(1).overloadPolicy(OverloadPolicy.block(PATIENCE)));
        opened.add(orchestrator);
        MappingId id = orchestrator.register("table").id();
        CountDownLatch begun = new CountDownLatch(1);
        var _ = orchestrator.submit(holding(begun, gate), 0, id);
        await(begun);
        var _ = orchestrator.submit(SAME, 0, id);
        return id;
    }

    @Test
    void submittersThatWaitForRoomUseNoProcessor() throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        CountDownLatch gate = bed.gate();
        List<Orchestrator> opened = new ArrayList<>();
        MappingId id = full(gate, opened);
        List<Submitter> submitters = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            submitters.add(Submitter.of(opened.getFirst(), SAME, i, id));
        }
        long began = System.nanoTime();
        long before = cpuNanos(threads, submitters);
        TimeUnit.MILLISECONDS.sleep(300);
        long used = cpuNanos(threads, submitters) - before;
        long wall = System.nanoTime() - began;
        assertThat(used).as("CPU time of all submitters in %d ns", wall).isLessThan(wall / 10);
        gate.countDown();
        for (int i = 0; i < submitters.size(); i++) {
            assertThat(submitters.get(i).answer()).isEqualTo(i);
        }
    }

    private static long cpuNanos(ThreadMXBean threads, List<Submitter> submitters) {
        return submitters.stream()
                .mapToLong(
                        submitter -> threads.getThreadCpuTime(submitter.thread().threadId()))
                .sum();
    }

    @Test
    void submittersAreAdmittedInTheOrderInWhichTheyCame() throws Exception {
        CountDownLatch gate = bed.gate();
        List<Orchestrator> opened = new ArrayList<>();
        MappingId id = full(gate, opened);
        List<Integer> ran = Collections.synchronizedList(new ArrayList<>());
        SearchFunction<Integer, Boolean> noting = (query, context) -> ran.add(query);
        SearchFunction<Integer, Integer> search = (query, context) -> noting.search(query, context) ? query : -1;
        List<Submitter> submitters = new ArrayList<>();
        List<Integer> order = IntStream.range(0, 24).boxed().toList();
        for (int query : order) {
            submitters.add(Submitter.of(opened.getFirst(), search, query, id));
        }
        gate.countDown();
        for (Submitter submitter : submitters) {
            var _ = submitter.answer();
        }
        assertThat(ran).isEqualTo(order);
    }

    /** It would wait for {@link #PATIENCE} if it did not look at its deadline. */
    @Test
    void aFanOutWaitsForRoomNoLongerThanUntilItsDeadline() throws Exception {
        List<Orchestrator> opened = new ArrayList<>();
        MappingId id = full(bed.gate(), opened);
        SubmitOptions soon = new SubmitOptions(Priority.INTERACTIVE, Duration.ofMillis(20));
        FutureTask<CompletableFuture<Integer>> submission =
                new FutureTask<>(() -> opened.getFirst().fanOut(List.of(new Part<>(SAME, 1, id)), List::size, soon));
        Thread.ofPlatform().daemon().start(submission);
        assertThat(get(submission))
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .withCauseInstanceOf(DeadlineExceededException.class);
    }

    @Test
    void whatWaitsForRoomBeyondItsDeadlineIsCountedAndForgotten() throws Exception {
        List<Orchestrator> opened = new ArrayList<>();
        MappingId id = full(bed.gate(), opened);
        SubmitOptions soon = SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(5));
        List<WeakReference<Object>> queries = new ArrayList<>();
        CompletableFuture<Integer> search = opened.getFirst().submit(hash(), query(queries), id, soon);
        CompletableFuture<Integer> fanOut = opened.getFirst()
                .fanOut(
                        List.of(new Part<>(hash(), query(queries), id), new Part<>(hash(), query(queries), id)),
                        List::size,
                        soon);
        assertThat(search).failsWithin(Duration.ofSeconds(10));
        assertThat(fanOut).failsWithin(Duration.ofSeconds(10));
        assertThat(opened.getFirst().stats(0).tasks().expired()).isEqualTo(3);
        Await.until(() -> {
            System.gc();
            return queries.stream().allMatch(query -> query.get() == null);
        });
        assertThat(List.of(search, fanOut))
                .allSatisfy(future -> assertThat(future).isDone());
    }

    private static SearchFunction<Object, Integer> hash() {
        return (query, context) -> query.hashCode();
    }

    private static Object query(List<WeakReference<Object>> queries) {
        Object query = new Object();
        queries.add(new WeakReference<>(query));
        return query;
    }

    /** Single searches keep all domains full, and wait for room in all; the fan-out needs room in all at once. */
    @Test
    void aFanOutOverManyDomainsHasItsTurnBesideSearchesThatWaitInEach() throws Exception {
        int domains = 4;
        Orchestrator orchestrator = bed.open(Machines.orchestrator(domains, 1)
                .ringCapacity(1)
                .crossDomainGate(new CrossDomainGate(Long.MAX_VALUE))
                .overloadPolicy(OverloadPolicy.block(PATIENCE)));
        Registration table = orchestrator.register("table", domains);
        AtomicBoolean ends = new AtomicBoolean();
        bed.atEnd(() -> ends.set(true));
        SearchFunction<Integer, Integer> slow = (query, context) -> {
            TimeUnit.MILLISECONDS.sleep(1);
            return query;
        };
        AtomicInteger accepted = new AtomicInteger();
        for (int i = 0; i < 4 * domains; i++) {
            MappingId id = table.id(i % domains);
            Thread.ofPlatform().daemon().start(() -> {
                while (!ends.get()) {
                    var _ = orchestrator.submit(slow, 0, id);
                    accepted.incrementAndGet();
                }
            });
        }
        Await.until(() -> accepted.get() > 10 * domains);
        List<Part<Integer, Integer>> parts = IntStream.range(0, domains)
                .mapToObj(i -> new Part<>(SAME, i, table.id(i)))
                .toList();
        FutureTask<Integer> fanOut =
                new FutureTask<>(() -> orchestrator.fanOut(parts, List::size).join());
        Thread.ofPlatform().daemon().start(fanOut);
        assertThat(fanOut.get(30, TimeUnit.SECONDS)).isEqualTo(domains);
        ends.set(true);
    }

    /**
     * Two fan-outs at once onto two domains whose workers are busy and whose rings have {@value #PLACES} places each. The more parts a
     * fan-out has, the fewer fit; what fits is accepted although the other is being placed at the same moment.
     */
    @Tag("stress")
    @ParameterizedTest
    @CsvSource({"2, 2", "3, 1", "4, 1", "9, 1"})
    void aFanOutThatFitsIsNotRefusedBecauseAnotherIsBeingPlaced(int partsPerDomain, int fitting) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(2, 1).ringCapacity(PLACES));
        Registration table = orchestrator.register("table", 2);
        assertThat(orchestrator.homes(table.id(0))).isNotEqualTo(orchestrator.homes(table.id(1)));
        List<Part<Integer, Integer>> one = parts(table, partsPerDomain, 0);
        List<Part<Integer, Integer>> two = parts(table, partsPerDomain, 1);
        for (int round = 0; round < Effort.times(1_000); round++) {
            CountDownLatch begun = new CountDownLatch(2);
            CountDownLatch gate = new CountDownLatch(1);
            bed.atEnd(gate::countDown);
            List<CompletableFuture<Integer>> holders = new ArrayList<>();
            holders.add(orchestrator.submit(holding(begun, gate), 0, table.id(0)));
            holders.add(orchestrator.submit(holding(begun, gate), 0, table.id(1)));
            await(begun);
            CyclicBarrier together = new CyclicBarrier(2);
            FutureTask<Integer> other = new FutureTask<>(() -> accepted(orchestrator, two, together));
            Thread.ofPlatform().daemon().start(other);
            int accepted = accepted(orchestrator, one, together) + get(other);
            gate.countDown();
            assertThat(accepted).as("fan-outs accepted in round %d", round).isEqualTo(fitting);
            for (CompletableFuture<Integer> holder : holders) {
                var _ = get(holder);
            }
            Await.until(() -> orchestrator.stats(0).domains().stream().allMatch(domain -> domain.waiting() == 0));
        }
    }

    private static int accepted(Orchestrator orchestrator, List<Part<Integer, Integer>> parts, CyclicBarrier together)
            throws Exception {
        together.await(10, TimeUnit.SECONDS);
        try {
            var _ = orchestrator.fanOut(parts, List::size);
            return 1;
        } catch (RejectedSearchException refused) {
            return 0;
        }
    }

    /** Parts for both domains, that of the given id first. */
    private static List<Part<Integer, Integer>> parts(Registration table, int perDomain, int first) {
        List<Part<Integer, Integer>> parts =
                new ArrayList<>(Collections.nCopies(perDomain, new Part<>(SAME, 0, table.id(first))));
        parts.addAll(Collections.nCopies(perDomain, new Part<>(SAME, 0, table.id(1 - first))));
        return parts;
    }
}
