package io.github.roost.core;

import static io.github.roost.core.TestBed.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.testkit.Machines;
import io.github.roost.topology.Core;
import io.github.roost.topology.Pinner;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Wake-ups in a domain of more workers than a cache line has counters for, with a caller whose core is one of the domain's. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WideDomainTest {
    private static final int WORKERS = 18;
    private static final int IDS = 256;
    private static final int PAIRS = 120;

    @RegisterExtension
    final TestBed bed = new TestBed();

    @ParameterizedTest
    @ValueSource(ints = {0, 9, WORKERS - 1})
    void aSearchThatWaitsForAnEarlierOneIsNotAloneWhileWorkersSleep(int nearCaller) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, WORKERS)
                .pinner(nearAllCpus(nearCaller))
                .idleStrategy(IdleStrategy.spinThenPark(0)));
        Registration table = orchestrator.register("table", IDS);
        Random random = new Random(nearCaller);
        for (int pair = 0; pair < PAIRS; pair++) {
            // The workers go to sleep; if one is still awake, the pair is only easier.
            TimeUnit.MILLISECONDS.sleep(2);
            CountDownLatch earlierRan = bed.gate();
            CompletableFuture<Integer> earlier = orchestrator.submit(
                    (query, context) -> {
                        earlierRan.countDown();
                        return query;
                    },
                    pair,
                    table.id(random.nextInt(IDS)));
            CompletableFuture<Integer> later = orchestrator.submit(
                    (query, context) -> {
                        earlierRan.await();
                        return query;
                    },
                    pair,
                    table.id(random.nextInt(IDS)));
            assertThat(get(earlier)).isEqualTo(pair);
            assertThat(get(later)).isEqualTo(pair);
        }
    }

    /** Whichever CPU a thread runs on, the core of one worker is near. */
    private static Function<Core, Pinner.Result> nearAllCpus(int worker) {
        List<Integer> cpus = IntStream.range(0, Runtime.getRuntime().availableProcessors())
                .boxed()
                .toList();
        return core -> core.id() == worker
                ? new Pinner.Result(cpus, cpus, 0, true, "")
                : new Pinner.Result(core.pus(), List.of(), -1, false, "a made-up machine");
    }
}
