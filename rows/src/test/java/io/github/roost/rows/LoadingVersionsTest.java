package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a table does while it reads the file of a version. */
class LoadingVersionsTest {
    private static final Schema SCHEMA = Schema.of(Column.ofText("name"));
    private static final int ROWS = 200_000;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @Test
    void upsertsAndStatisticsDoNotWaitForAFile() throws IOException {
        try (VersionedRows rows = VersionedRows.builder(folder)
                .updates(VersionedRows.Updates.UPSERTS)
                .open()) {
            seal(rows, 1, 10);
            rows.publish(1);
            seal(rows, 2, ROWS);
            boolean isDoneMeanwhile = false;
            for (int load = 0; load < 40 && !isDoneMeanwhile; load++) {
                isDoneMeanwhile = changesWhileLoading(rows, load);
                rows.unload(2);
            }
            assertThat(isDoneMeanwhile).isTrue();
        }
    }

    /** Whether a change and statistics began and ended while the file was read; false also if the file was read before they began. */
    private static boolean changesWhileLoading(VersionedRows rows, long key) {
        AtomicReference<@Nullable Thread> loader = new AtomicReference<>();
        CompletableFuture<Void> loaded = CompletableFuture.runAsync(() -> {
            loader.set(Thread.currentThread());
            try {
                rows.load(2);
            } catch (IOException failed) {
                throw new AssertionError(failed);
            }
        });
        while (!isReading(loader.get()) && !loaded.isDone()) {
            Thread.onSpinWait();
        }
        rows.upsert(1_000_000 + key, row("new"));
        assertThat(rows.stats().rows()).isGreaterThan(10 + key);
        boolean isReading = isReading(loader.get());
        loaded.join();
        assertThat(rows.liveVersions()).containsExactly(1L, 2L);
        assertThat(rows.stats().version()).isEqualTo(1);
        return isReading;
    }

    private static boolean isReading(@Nullable Thread loader) {
        return loader != null
                && Arrays.stream(loader.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(VersionFile.class.getName()));
    }

    private static RowWriter row(String name) {
        return new RowWriter(SCHEMA).setText(0, name);
    }

    private static void seal(VersionedRows rows, long version, int count) throws IOException {
        try (VersionBuilder building = rows.begin(version, SCHEMA, count)) {
            RowWriter row = building.writer();
            for (long key = 0; key < count; key++) {
                building.put(key, row.setText(0, "row " + key));
            }
            building.seal();
        }
    }
}
