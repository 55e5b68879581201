package io.github.roost.rows.service;

import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.TextKeys;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Receives the rows that a source puts, keeps those of a server's shards, and identifies all of them. For one thread at a time. */
final class SourceRows implements RowSource.Changes {
    /** Rows between two reports of the memory that they take. */
    private static final int ROWS_PER_REPORT = 4_096;

    private final VersionBuilder building;
    private final Served served;
    /** Identifies the rows; null if the source's snapshot does. */
    private final @Nullable Content content;
    /** Reads the rows of the version that the changes are made to; null for no changes. */
    private final VersionedRows.@Nullable Reader before;

    private final Runnable report;
    private final RowBatch found = RowBatch.onHeap();
    private final Set<Long> removed = new HashSet<>();
    private long puts;

    SourceRows(
            VersionBuilder building,
            Served served,
            @Nullable Content content,
            VersionedRows.@Nullable Reader before,
            Runnable report) {
        this.building = building;
        this.served = served;
        this.content = content;
        this.before = before;
        this.report = report;
    }

    @Override
    public RowWriter writer() {
        return building.writer();
    }

    @Override
    public void put(long key, RowWriter row) {
        identify(key, row);
        if (isHere(key)) {
            building.put(key, row);
            count();
        }
    }

    @Override
    public void put(TextKeys keys, String text, RowWriter row) {
        long key = keys.set(row, text);
        identify(key, row);
        if (isHere(key)) {
            requireText(keys, key, text);
            keys.put(building, text, row);
            count();
        }
    }

    @Override
    public void remove(long key) {
        if (isHere(key)) {
            removed.add(key);
        }
    }

    @Override
    public void remove(TextKeys keys, String text) {
        long key = keys.key(text);
        if (isHere(key)) {
            requireText(keys, key, text);
            removed.add(key);
        }
    }

    private void identify(long key, RowWriter row) {
        if (content != null) {
            content.add(key, row.row());
        }
    }

    private boolean isHere(long key) {
        return served.here().contains(NeighborHashMap.shard(key, served.shards()));
    }

    /** A text must not replace or remove the row of another one that has its fingerprint. */
    private void requireText(TextKeys keys, long key, String text) {
        if (before == null) {
            return;
        }
        before.getAll(0, new long[] {key}, found, keys.columns(List.of()));
        RowBatch.ColdReadException failure = found.failure(0);
        if (failure != null) {
            throw failure;
        }
        if (found.isPresent(0) && keys.retain(List.of(text), found) == 0) {
            throw new IllegalArgumentException("texts must have fingerprints of their own, but \"" + text
                    + "\" and another text both have " + key);
        }
    }

    private void count() {
        if (++puts % ROWS_PER_REPORT == 0) {
            report.run();
        }
    }

    /** Whether a row of the version that the changes are made to stays, unless a row was put under its key. */
    boolean stays(long key) {
        return isHere(key) && !removed.contains(key);
    }

    /** Rows that were put and kept. */
    long puts() {
        return puts;
    }

    /** Whether nothing was put or removed. */
    boolean isEmpty() {
        return puts == 0 && removed.isEmpty();
    }
}
