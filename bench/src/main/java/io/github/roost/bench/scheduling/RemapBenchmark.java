package io.github.roost.bench.scheduling;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.monitor.Traffic;
import io.github.roost.core.remap.DomainLoads;
import io.github.roost.core.remap.RemapRule;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Question: how long does a remap of all mapping ids take, on the thread that performs it? Each operation gets a
 * different window of Zipf-distributed traffic, computes the next mapping, decides whether the change pays, and sums
 * the traffic that it moves.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@SuppressWarnings("NullAway.Init") // JMH sets the parameters and calls the set-up
public class RemapBenchmark {
    /** The policies by name. */
    @SuppressWarnings("ImmutableEnumChecker") // the policies are stateless
    public enum Policy {
        PAPER(MappingPolicy.hotColdPairing()),
        STAYING(MappingPolicy.stayingPairing());

        private final MappingPolicy policy;

        Policy(MappingPolicy policy) {
            this.policy = policy;
        }
    }

    @Param
    public Policy policy;

    @Param("131072")
    public int ids;

    @Param("24")
    public int domains;

    private static final long CACHE_BYTES = 32 << 20;

    private final RemapTrigger trigger = RemapTrigger.DEFAULT;
    private final Traffic[] windows = new Traffic[8];
    private Mapping mapping;
    private int window;

    @Setup
    public void drift() {
        Random random = new Random(1);
        long[] searches = new long[ids];
        for (int i = 0; i < windows.length; i++) {
            for (int id = 0; id < ids; id++) {
                searches[id] = (long) (1e6 / (1 + random.nextInt(ids)));
            }
            long[] bytes = Arrays.stream(searches).map(count -> count * 100_000).toArray();
            windows[i] = new Traffic(bytes, searches.clone());
        }
        mapping = MappingPolicy.hotColdPairing().next(Mapping.of(domains, new int[ids]), windows[0].bytes());
    }

    @Benchmark
    public long remap() {
        window = (window + 1) % windows.length;
        Traffic traffic = windows[window];
        Mapping next = policy.policy.next(mapping, traffic.bytes());
        boolean pays = RemapRule.pays(trigger, mapping, next, traffic, CACHE_BYTES);
        long moved = DomainLoads.movedBytes(mapping, next, traffic.bytes());
        mapping = next;
        return pays ? moved : -moved;
    }
}
