package io.github.roost.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.simulator.measure.SearchFailedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClosedLoopTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private final ExecutorService threads = Executors.newFixedThreadPool(4);

    @AfterEach
    void stopThreads() {
        threads.shutdownNow();
    }

    @Test
    void everyNumberIsSearchedOnceAndNoMoreThanAllowedAtATime() throws InterruptedException {
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger max = new AtomicInteger();
        Set<Long> received = ConcurrentHashMap.newKeySet();

        ClosedLoop.Run run = new ClosedLoop(3)
                .run(
                        1_000,
                        LONG,
                        number -> {
                            max.accumulateAndGet(underWay.incrementAndGet(), Math::max);
                            return CompletableFuture.supplyAsync(() -> -number, threads);
                        },
                        (number, result) -> {
                            assertThat(result).isEqualTo(-number);
                            received.add(number);
                            underWay.decrementAndGet();
                        });

        assertThat(received).hasSize(1_000);
        assertThat(max.get()).isBetween(1, 3);
        assertThat(run.searches()).isEqualTo(1_000);
        assertThat(run.latencies().count()).isEqualTo(1_000);
        assertThat(run.latencies().p50us()).isLessThanOrEqualTo(run.latencies().p99us());
        assertThat(run.latencies().p99us()).isLessThanOrEqualTo(run.latencies().p999us());
    }

    @Test
    void searchesOfABatchAreAsManyAsAreFreeToStart() throws InterruptedException {
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger max = new AtomicInteger();
        List<Integer> sizes = new ArrayList<>();
        Set<Long> received = ConcurrentHashMap.newKeySet();

        ClosedLoop.Run run = new ClosedLoop(40)
                .runBatches(
                        1_001,
                        LONG,
                        (first, count) -> {
                            sizes.add(count);
                            max.accumulateAndGet(underWay.addAndGet(count), Math::max);
                            return LongStream.range(first, first + count)
                                    .mapToObj(number -> CompletableFuture.supplyAsync(() -> -number, threads))
                                    .toList();
                        },
                        (number, result) -> {
                            assertThat(result).isEqualTo(-number);
                            received.add(number);
                            underWay.decrementAndGet();
                        });

        assertThat(sizes.getFirst()).isEqualTo(40);
        assertThat(sizes.stream().mapToInt(size -> size).sum()).isEqualTo(1_001);
        assertThat(received).hasSize(1_001);
        assertThat(max.get()).isEqualTo(40);
        assertThat(run.searches()).isEqualTo(1_001);
        assertThat(run.latencies().count()).isEqualTo(1_001);
    }

    @Test
    void whenTheTimeIsUpNoSearchStarts() throws InterruptedException {
        ClosedLoop.Run run = new ClosedLoop(2)
                .run(Long.MAX_VALUE, Duration.ZERO, CompletableFuture::completedFuture, (number, result) -> {});

        assertThat(run.searches()).isEqualTo(1);
    }

    @Test
    void aFailedSearchFailsTheRunWithItsCause() {
        ClosedLoop loop = new ClosedLoop(2);

        assertThatThrownBy(() -> loop.run(
                        10,
                        LONG,
                        number -> number == 4
                                ? CompletableFuture.failedFuture(new IllegalStateException("four"))
                                : CompletableFuture.completedFuture(number),
                        (number, result) -> {}))
                .isInstanceOf(SearchFailedException.class)
                .hasRootCauseMessage("four");
    }

    @Test
    void inFlightBelowOneIsRefused() {
        assertThatThrownBy(() -> new ClosedLoop(0)).hasMessage("in-flight must be at least 1, got 0");
    }
}
