package io.github.roost.bench.disk;

import io.github.roost.index.disk.MutableDiskTable;
import io.github.roost.testkit.Mixture;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Inserts new rows into a table and deletes its oldest rows, with some tens of updates in flight. All calls must pass the same table. It may
 * be closed and opened again between calls of {@link #both} and {@link #inserts}. Not thread-safe.
 *
 * <p>Updates go to a quarter of the clusters and searches to the other clusters. A changed page stays in memory until the next checkpoint and is not
 * read. In a table larger than memory these pages are a small part; in a table that a benchmark can build they would soon be all pages.
 */
final class UpdateFeed {
    private static final int UNDER_WAY = 32;
    /** Share of all nodes; slightly above the share at which a table removes deleted nodes from its graph. */
    private static final double DELETED_AT_A_TIME = .1005;

    /** Share of {@link #DELETED_AT_A_TIME} that is deleted before a measurement: below the share at which the table removes nodes. */
    private static final double ALMOST = .99;

    /** Rows left to delete before a measurement, as a multiple of those that it deletes. */
    private static final double SPARE = 1.5;

    /** One in this many clusters is updated, and not searched. */
    private static final int UPDATED = 4;

    private final Mixture mixture;
    private final SplittableRandom random;
    private final int atFirst;
    private long oldest;
    private long next;

    /** @param rows number of initial rows; their ids are from 0 on */
    UpdateFeed(Mixture mixture, int rows, long seed) {
        this.mixture = mixture;
        this.random = new SplittableRandom(seed);
        this.atFirst = rows;
        this.next = rows;
    }

    /** Draws rows of a table, round-robin over all clusters. */
    static float[][] rows(Mixture mixture, int count, SplittableRandom random) {
        float[][] rows = new float[count][];
        for (int i = 0; i < count; i++) {
            rows[i] = mixture.drawAround(i % mixture.centers().length, random);
        }
        return rows;
    }

    /** Draws queries in clusters that are not updated. */
    static float[][] queries(Mixture mixture, int count, SplittableRandom random) {
        float[][] queries = new float[count][];
        for (int i = 0; i < count; i++) {
            int center;
            do {
                center = random.nextInt(mixture.centers().length);
            } while (center % UPDATED == 0);
            queries[i] = mixture.drawAround(center, random);
        }
        return queries;
    }

    /** Alternates inserts and deletes. */
    void both(MutableDiskTable table, AtomicBoolean goesOn) {
        Queue<CompletableFuture<Boolean>> underWay = new ArrayDeque<>();
        while (goesOn.get()) {
            underWay.add(insert(table));
            underWay.add(table.removeLater(takeOldest()));
            join(underWay, UNDER_WAY);
        }
        join(underWay, 0);
    }

    /** Inserts rows only. */
    void inserts(MutableDiskTable table, AtomicBoolean goesOn) {
        Queue<CompletableFuture<Boolean>> underWay = new ArrayDeque<>();
        while (goesOn.get()) {
            underWay.add(insert(table));
            join(underWay, UNDER_WAY);
        }
        join(underWay, 0);
    }

    /**
     * Deletes rows until the table would begin to remove them from its graph with a few more; inserts rows first if few are left to delete. Must not
     * be called while the table removes rows.
     */
    void prepareDeletes(MutableDiskTable table) {
        Queue<CompletableFuture<Boolean>> underWay = new ArrayDeque<>();
        int enough = (int) (SPARE * DELETED_AT_A_TIME * table.size());
        while (rowsToDelete() < enough) {
            underWay.add(insert(table));
            join(underWay, UNDER_WAY);
        }
        join(underWay, 0);
        delete(table, ALMOST * DELETED_AT_A_TIME);
    }

    /** Deletes a few more rows after {@link #prepareDeletes}, so that the table begins to remove rows from its graph. */
    void beginRemoval(MutableDiskTable table) {
        delete(table, DELETED_AT_A_TIME);
    }

    /** Whether the table has removed the rows of the latest {@link #beginRemoval}. */
    static boolean isRemovalOver(MutableDiskTable table) {
        // A few may have been deleted after the removal began.
        return table.diskStats().deletedNodes() < DELETED_AT_A_TIME / 2 * table.size();
    }

    private long rowsToDelete() {
        return Math.max(0, atFirst - oldest) / UPDATED + next - Math.max(oldest, atFirst);
    }

    private void delete(MutableDiskTable table, double share) {
        Queue<CompletableFuture<Boolean>> underWay = new ArrayDeque<>();
        int before = table.diskStats().deletedNodes();
        for (int left = (int) (share * (table.size() + before)) - before; left > 0; left--) {
            underWay.add(table.removeLater(takeOldest()));
            join(underWay, UNDER_WAY);
        }
        join(underWay, 0);
    }

    private CompletableFuture<Boolean> insert(MutableDiskTable table) {
        int center = random.nextInt(mixture.centers().length / UPDATED) * UPDATED;
        return table.putLater(next++, mixture.drawAround(center, random));
    }

    /** Takes the initial rows of updated clusters first, then inserted rows. */
    private long takeOldest() {
        long taken = oldest;
        do {
            oldest++;
        } while (oldest < atFirst && oldest % mixture.centers().length % UPDATED != 0);
        return taken;
    }

    private static void join(Queue<CompletableFuture<Boolean>> underWay, int left) {
        while (underWay.size() > left) {
            underWay.remove().join();
        }
    }
}
