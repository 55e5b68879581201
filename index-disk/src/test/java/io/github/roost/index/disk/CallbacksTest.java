package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.index.disk.update.DiskUpdates;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What depends on the future of an update may wait for anything that the table does. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallbacksTest extends OnDevice {
    private static final float[][] ROWS = gaussian(200, 4, 5);

    @Test
    void aCallbackWaitsForAnotherUpdateAndACheckpoint() throws Exception {
        try (MutableDiskTable table = build(ROWS)) {
            assertThat(table.putLater(1_000, ROWS[0])
                            .thenApply(isNew -> {
                                table.checkpoint().join();
                                return isNew && table.put(1_001, ROWS[1]);
                            })
                            .join())
                    .isTrue();
            assertThat(table.checkpoint().thenApply(done -> table.remove(1_001)).join())
                    .isTrue();
        }
    }

    @Test
    void callbacksWaitForUpdatesThatWereGivenBeforeAndAfter() throws Exception {
        try (MutableDiskTable table = build(ROWS)) {
            List<CompletableFuture<Boolean>> puts = new ArrayList<>();
            CountDownLatch areGiven = new CountDownLatch(1);
            CompletableFuture<Boolean> first = table.putLater(1_000, ROWS[0]).thenApply(isNew -> {
                awaitLatch(areGiven);
                return puts.stream().allMatch(CompletableFuture::join);
            });
            for (int id = 1_001; id < 1_100; id++) {
                puts.add(table.putLater(id, ROWS[1]));
            }
            areGiven.countDown();
            assertThat(first.join()).isTrue();
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stop) {
            throw new AssertionError(stop);
        }
    }

    /** Each update begins the next of its chain. */
    @Test
    void moreChainsOfUpdatesThanMayBePendingGoOn() throws Exception {
        int chains = DiskUpdates.MAX_UNDER_WAY + 100;
        try (MutableDiskTable table = build(ROWS)) {
            AtomicInteger next = new AtomicInteger();
            int count = chains + 300;
            CountDownLatch left = new CountDownLatch(count);
            for (int i = 0; i < chains; i++) {
                removeNext(table, next, count, left);
            }
            left.await();
            assertThat(table.size()).isEqualTo(ROWS.length);
        }
    }

    private static void removeNext(MutableDiskTable table, AtomicInteger next, int count, CountDownLatch left) {
        int number = next.getAndIncrement();
        if (number < count) {
            var _ = table.removeLater(10_000 + number).thenRun(() -> {
                left.countDown();
                removeNext(table, next, count, left);
            });
        }
    }

    @Test
    void aTableIsClosedByWhatFollowsAFailedUpdate() throws Exception {
        MutableDiskTable table = build(ROWS);
        device().capacity(device().used());
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        var _ = table.putLater(1_000, ROWS[0]).whenComplete((isNew, failed) -> {
            assertThat(failed).isInstanceOf(UncheckedIOException.class).hasMessageContaining("ENOSPC");
            assertThatThrownBy(() -> table.put(1_001, ROWS[1])).isInstanceOf(UncheckedIOException.class);
            table.close();
            closed.complete(true);
        });
        assertThat(closed.join()).isTrue();
    }

    @Test
    void theUpdatesOfAClosedTableAreComplete() throws Exception {
        MutableDiskTable table = build(ROWS);
        List<CompletableFuture<Boolean>> updates =
                IntStream.range(0, 500).mapToObj(id -> table.removeLater(id)).toList();
        table.close();
        assertThat(updates).allMatch(CompletableFuture::isDone);
        assertThat(updates.stream().filter(CompletableFuture::join)).hasSize(ROWS.length);
    }
}
