package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Rows and their scores, side by side in arrays that kernels write, which grow as they are needed and can be used again.
 * Belongs to one thread at a time.
 */
public final class ScoredRows {
    float[] scores = {};
    long[] places = {};
    int size;

    private @Nullable Segments segments;

    /** Forgets all rows. */
    public void clear() {
        size = 0;
    }

    /** Number of rows held. */
    public int size() {
        return size;
    }

    /** How many rows there is memory for. */
    public int room() {
        return scores.length;
    }

    /** A row's score. */
    public float score(int index) {
        return scores[index];
    }

    /** What a row was taken with. */
    public long place(int index) {
        return places[index];
    }

    /** Makes room for so many rows in all, keeping those that are held. */
    public void makeRoom(int rows) {
        if (rows > scores.length) {
            scores = Arrays.copyOf(scores, rows);
            places = Arrays.copyOf(places, rows);
            segments = null;
        }
    }

    /** Takes what the last scan of a group found for a query, each row's number plus {@code first} for its place. */
    public void add(CodeGroup group, int query, long first) {
        int found = group.found(query);
        makeRoom(size + found);
        group.copyScores(query, scores, size);
        group.copyPlaces(query, first, places, size);
        size += found;
    }

    /** Takes all rows of another, {@code shift} added to their places. */
    public void addAll(ScoredRows other, long shift) {
        makeRoom(size + other.size);
        System.arraycopy(other.scores, 0, scores, size, other.size);
        for (int i = 0; i < other.size; i++) {
            places[size + i] = other.places[i] + shift;
        }
        size += other.size;
    }

    /** Of the rows from {@code from} on keeps, in their order, those wanted; asked once of each index, in ascending order. */
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

    /** The arrays as kernels in C take them. */
    record Segments(MemorySegment scores, MemorySegment places) {}

    /** Kept with the arrays: made for each call they are a good part of a search's garbage. */
    Segments segments() {
        Segments made = segments;
        if (made == null) {
            made = new Segments(MemorySegment.ofArray(scores), MemorySegment.ofArray(places));
            segments = made;
        }
        return made;
    }
}
