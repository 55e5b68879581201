package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Rows and their scores, in parallel arrays that kernels write; they grow as needed and can be reused.
 * Belongs to one thread at a time.
 */
public final class ScoredRows {
    float[] scores = {};
    long[] places = {};
    int size;

    private @Nullable Segments segments;

    /** Removes all rows. */
    public void clear() {
        size = 0;
    }

    /** Number of rows held. */
    public int size() {
        return size;
    }

    /** Number of rows that the arrays can hold. */
    public int room() {
        return scores.length;
    }

    /** A row's score. */
    public float score(int index) {
        return scores[index];
    }

    /** The place with which a row was added. */
    public long place(int index) {
        return places[index];
    }

    /** Grows the arrays to hold {@code rows} rows in all, keeping the rows held. */
    public void makeRoom(int rows) {
        if (rows > scores.length) {
            scores = Arrays.copyOf(scores, rows);
            places = Arrays.copyOf(places, rows);
            segments = null;
        }
    }

    /** Adds the rows that the last scan of a group found for a query; a row's place is its number plus {@code first}. */
    public void add(CodeGroup group, int query, long first) {
        int found = group.found(query);
        makeRoom(size + found);
        group.copyScores(query, scores, size);
        group.copyPlaces(query, first, places, size);
        size += found;
    }

    /** Adds all rows of another, with {@code shift} added to their places. */
    public void addAll(ScoredRows other, long shift) {
        makeRoom(size + other.size);
        System.arraycopy(other.scores, 0, scores, size, other.size);
        for (int i = 0; i < other.size; i++) {
            places[size + i] = other.places[i] + shift;
        }
        size += other.size;
    }

    /** Keeps, in their order, the wanted rows from {@code from} on; tests each index once, in ascending order. */
    public void keepIf(int from, IntPredicate wanted) {
        int kept = from;
        for (int i = from; i < size; i++) {
            if (wanted.test(i)) {
                scores[kept] = scores[i];
                places[kept++] = places[i];
            }
        }
        size = kept;
    }

    /** The arrays as C kernels take them. */
    record Segments(MemorySegment scores, MemorySegment places) {}

    /** Cached: created per call, they would be a good part of a search's garbage. */
    Segments segments() {
        Segments made = segments;
        if (made == null) {
            made = new Segments(MemorySegment.ofArray(scores), MemorySegment.ofArray(places));
            segments = made;
        }
        return made;
    }
}
