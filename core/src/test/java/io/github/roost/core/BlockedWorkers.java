package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Searches that tests are made of: one that answers at once, and one that keeps a worker until it is released. */
final class BlockedWorkers {
    private BlockedWorkers() {}

    static final SearchFunction<Integer, Integer> DOUBLE = (query, context) -> 2 * query;

    static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    static List<Part<Integer, Integer>> parts(Registration table, SearchFunction<Integer, Integer> function) {
        return IntStream.range(0, table.size())
                .mapToObj(index -> new Part<Integer, Integer>(function, index, table.id(index)))
                .toList();
    }

    static SearchFunction<Integer, Integer> blocking(CountDownLatch started, CountDownLatch release) {
        return (query, context) -> {
            started.countDown();
            assertThat(release.await(30, TimeUnit.SECONDS)).isTrue();
            return query;
        };
    }

    static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
