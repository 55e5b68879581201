package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeGroup;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The rows with the best scores that one query has met so far, ties by the smaller id, and where they lie. Up to twice as
 * many as are wanted are gathered, then the worse half is dropped (FAISS's reservoir): that takes constant time a row,
 * where a heap takes a logarithm. Belongs to one thread at a time.
 */
final class Shortlist {
    private static final int LEAST_ROOM = 256;

    private final int wanted;
    /** The blocks that rows lie in; a row keeps its block from being freed. */
    private final List<RowBlock> blocks = new ArrayList<>();

    private int[] scores;
    private long[] ids;
    /** A block's index above, the row in the block below. */
    private long[] places;

    private int size;
    private float bound = Float.POSITIVE_INFINITY;

    /** @param wanted how many rows to keep, at least 1 */
    Shortlist(int wanted) {
        this.wanted = wanted;
        int room = (int) Math.min(2L * wanted, LEAST_ROOM);
        this.scores = new int[room];
        this.ids = new long[room];
        this.places = new long[room];
    }

    /** Number of rows held; at most what is wanted, after {@link #shrink}. */
    int size() {
        return size;
    }

    long id(int index) {
        return ids[index];
    }

    /** Copies a row, as floats, to {@code target}. */
    void copyRow(int index, MemorySegment target, long targetAt) {
        long place = places[index];
        blocks.get((int) (place >>> Integer.SIZE)).copyRow((int) place, target, targetAt);
    }

    /** The score beyond which no row gets in; infinite until as many have been met as are wanted. */
    float bound() {
        return bound;
    }

    /** Takes what a scan of rows of a block, from {@code first} on, has found for a query. */
    void take(CodeGroup group, int query, RowBlock block, int first, @Nullable LongPredicate filter) {
        int found = group.found(query);
        if (found == 0) {
            return;
        }
        if (blocks.isEmpty() || blocks.getLast() != block) {
            blocks.add(block);
        }
        long place = (long) (blocks.size() - 1) << Integer.SIZE | first;
        for (int i = 0; i < found; i++) {
            float score = group.score(query, i);
            int row = group.row(query, i);
            if (score <= bound) {
                long id = block.id(first + row);
                if (filter == null || filter.test(id)) {
                    append(NearestFirst.sortable(score), id, place + row);
                }
            }
        }
        if (bound == Float.POSITIVE_INFINITY && size >= wanted) {
            shrink();
        }
    }

    /** Takes all that another has; the other is of no use any more. */
    void takeAll(Shortlist other) {
        long shift = (long) blocks.size() << Integer.SIZE;
        blocks.addAll(other.blocks);
        for (int i = 0; i < other.size; i++) {
            append(other.scores[i], other.ids[i], other.places[i] + shift);
        }
    }

    private void append(int score, long id, long place) {
        if (size == scores.length) {
            if (size >= 2L * wanted) {
                shrink();
            } else {
                int room = (int) Math.min(2L * wanted, 2L * size);
                scores = Arrays.copyOf(scores, room);
                ids = Arrays.copyOf(ids, room);
                places = Arrays.copyOf(places, room);
            }
        }
        scores[size] = score;
        ids[size] = id;
        places[size++] = place;
    }

    /** Drops all but the wanted best, and lowers the bound to the worst of these. */
    void shrink() {
        if (size < wanted) {
            return;
        }
        int worst = Smallest.nth(Arrays.copyOf(scores, size), wanted - 1);
        long mostTiedId = mostTiedId(worst);
        int kept = 0;
        for (int i = 0; i < size && kept < wanted; i++) {
            if (scores[i] < worst || (scores[i] == worst && ids[i] <= mostTiedId)) {
                scores[kept] = scores[i];
                ids[kept] = ids[i];
                places[kept++] = places[i];
            }
        }
        size = kept;
        bound = NearestFirst.floatOf(worst);
    }

    /** The largest id that is kept of those with the worst score. */
    private long mostTiedId(int worst) {
        int better = 0;
        int tied = 0;
        for (int i = 0; i < size; i++) {
            better += scores[i] < worst ? 1 : 0;
            tied += scores[i] == worst ? 1 : 0;
        }
        if (better + tied == wanted) {
            return Long.MAX_VALUE;
        }
        long[] tiedIds = new long[tied];
        int next = 0;
        for (int i = 0; i < size; i++) {
            if (scores[i] == worst) {
                tiedIds[next++] = ids[i];
            }
        }
        Arrays.sort(tiedIds);
        return tiedIds[wanted - better - 1];
    }
}
