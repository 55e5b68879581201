package io.github.roost.core;

import static io.github.roost.core.TestBed.SAME;
import static io.github.roost.core.TestBed.await;
import static io.github.roost.core.TestBed.get;
import static io.github.roost.core.TestBed.holding;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Short searches behind long ones, beside a domain that has nothing to do. The long ones do not end before the short ones have. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LongSearchTest {
    @RegisterExtension
    final TestBed bed = new TestBed();

    private Orchestrator withLongSearches(
            int coresPerDomain, SearchFunction<Integer, Integer> search, CountDownLatch begun)
            throws InterruptedException {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(2, coresPerDomain));
        MappingId id = orchestrator.register("long").id();
        for (int i = 0; i < coresPerDomain; i++) {
            var _ = orchestrator.submit(search, i, id);
        }
        await(begun);
        return orchestrator;
    }

    /** An id of the domain of the long searches. */
    private static MappingId besideTheLongOnes(Orchestrator orchestrator) {
        int home = orchestrator.mapping().tables().getFirst().homes().getFirst().getFirst();
        Registration table = orchestrator.register("short", 2);
        return orchestrator.homes(table.id(0)).getFirst() == home ? table.id(0) : table.id(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void shortSearchesBehindLongOnesRunInTheIdleDomain(int coresPerDomain) throws Exception {
        CountDownLatch begun = new CountDownLatch(coresPerDomain);
        Orchestrator orchestrator = withLongSearches(coresPerDomain, holding(begun, bed.gate()), begun);
        MappingId id = besideTheLongOnes(orchestrator);
        List<CompletableFuture<Integer>> searches = new ArrayList<>();
        for (int i = 0; i < 2 * coresPerDomain - 1; i++) {
            searches.add(orchestrator.submit(SAME, i, id));
        }
        for (int i = 0; i < searches.size(); i++) {
            assertThat(get(searches.get(i))).isEqualTo(i);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void shortTasksOfAnExecutorWhichReportsNoTrafficDoSoToo(int coresPerDomain) throws Exception {
        CountDownLatch begun = new CountDownLatch(coresPerDomain);
        Orchestrator orchestrator = withLongSearches(coresPerDomain, holding(begun, bed.gate()), begun);
        ExecutorService executor = orchestrator.executor(besideTheLongOnes(orchestrator));
        List<Future<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 2 * coresPerDomain - 1; i++) {
            int task = i;
            tasks.add(executor.submit(() -> task));
        }
        for (int i = 0; i < tasks.size(); i++) {
            assertThat(get(tasks.get(i))).isEqualTo(i);
        }
    }

    @Test
    void aShortSearchBehindOneThatComputesRunsInTheIdleDomain() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean stop = new AtomicBoolean();
        bed.atEnd(() -> stop.set(true));
        SearchFunction<Integer, Integer> computing = (query, context) -> {
            begun.countDown();
            while (!stop.get()) {
                Thread.onSpinWait();
            }
            return query;
        };
        Orchestrator orchestrator = withLongSearches(1, computing, begun);
        MappingId id = besideTheLongOnes(orchestrator);
        // One after the other: there is never a backlog.
        for (int i = 0; i < 10; i++) {
            assertThat(get(orchestrator.submit(SAME, i, id))).isEqualTo(i);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aShortSearchOfEitherPriorityDoesSo(Priority priority) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Orchestrator orchestrator = withLongSearches(1, holding(begun, bed.gate()), begun);
        MappingId id = besideTheLongOnes(orchestrator);
        SubmitOptions options = new SubmitOptions(priority, Duration.ZERO);
        assertThat(get(orchestrator.submit(SAME, 1, id, options))).isOne();
    }
}
