package io.github.roost.bench.disk;

import io.github.roost.bench.Mixture;
import io.github.roost.index.disk.DiskTable;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Inserts new rows into a table and deletes its oldest, some tens under way. One thread at a time.
 *
 * <p>Updates go to a quarter of the clusters and searches to the others. A page that has changed is in memory until the next checkpoint, and
 * is not read; of a table that is larger than memory that is a small part, of one that a bench can build it would soon be all.
 */
final class UpdateFeed {
    private static final int UNDER_WAY = 32;
    /** Of all nodes; a little more than what makes a table take deleted nodes out of its graph. */
    private static final double DELETED_AT_A_TIME = .12;

    /** Of those that are deleted at a time: what a measurement takes out at most. */
    private static final double ENOUGH_LEFT = .4;

    /** Of the clusters that are not searched. */
    private static final int UPDATED = 4;

    private final DiskTable table;
    private final Mixture mixture;
    private final SplittableRandom random;
    private final int atFirst;
    private long oldest;
    private long next;
    /** Rows deleted by {@link #refillDeletes}. */
    private long removed;

    /** @param rows of ids from 0 on */
    UpdateFeed(DiskTable table, Mixture mixture, int rows, long seed) {
        this.table = table;
        this.mixture = mixture;
        this.random = new SplittableRandom(seed);
        this.atFirst = rows;
        this.next = rows;
    }

    /** Rows of a table, of all clusters by turns. */
    static float[][] rows(Mixture mixture, int count, SplittableRandom random) {
        float[][] rows = new float[count][];
        for (int i = 0; i < count; i++) {
            rows[i] = mixture.drawAround(i % mixture.centres().length, random);
        }
        return rows;
    }

    /** Queries near rows that no update is near to. */
    static float[][] queries(Mixture mixture, int count, SplittableRandom random) {
        float[][] queries = new float[count][];
        for (int i = 0; i < count; i++) {
            int centre;
            do {
                centre = random.nextInt(mixture.centres().length);
            } while (centre % UPDATED == 0);
            queries[i] = mixture.drawAround(centre, random);
        }
        return queries;
    }

    /** Inserts and deletes by turns. */
    void both(AtomicBoolean goesOn) {
        Queue<CompletableFuture<Boolean>> underWay = new ArrayDeque<>();
        while (goesOn.get()) {
            underWay.add(insert());
            underWay.add(table.removeLater(takeOldest()));
            join(underWay, UNDER_WAY);
        }
        join(underWay, 0);
    }

    /** Inserts alone. */
    void inserts(AtomicBoolean goesOn) {
        Queue<CompletableFuture<Boolean>> underWay = new ArrayDeque<>();
        while (goesOn.get()) {
            underWay.add(insert());
            join(underWay, UNDER_WAY);
        }
        join(underWay, 0);
    }

    /**
     * Deletes so many rows that the table takes them out of its graph, unless a pass that does so has enough left to do; inserts as many
     * first where few are left to delete. To be called while nothing is timed.
     */
    void refillDeletes() {
        int some = (int) (DELETED_AT_A_TIME * table.size());
        if (removed - table.diskStats().takenOut() > ENOUGH_LEFT * some) {
            return;
        }
        Queue<CompletableFuture<Boolean>> underWay = new ArrayDeque<>();
        if (oldest >= atFirst || next - oldest < (long) UPDATED * some) {
            for (int i = 0; i < some; i++) {
                underWay.add(insert());
                join(underWay, UNDER_WAY);
            }
        }
        for (int left = some; left > 0 && oldest < next; left--) {
            underWay.add(table.removeLater(takeOldest()));
            removed++;
            join(underWay, UNDER_WAY);
        }
        join(underWay, 0);
    }

    private CompletableFuture<Boolean> insert() {
        int centre = random.nextInt(mixture.centres().length / UPDATED) * UPDATED;
        return table.putLater(next++, mixture.drawAround(centre, random));
    }

    /** Of those that there were at first, of a cluster that is updated; then of those that were inserted. */
    private long takeOldest() {
        long taken = oldest;
        do {
            oldest++;
        } while (oldest < atFirst && oldest % mixture.centres().length % UPDATED != 0);
        return taken;
    }

    private static void join(Queue<CompletableFuture<Boolean>> underWay, int left) {
        while (underWay.size() > left) {
            underWay.remove().join();
        }
    }
}
