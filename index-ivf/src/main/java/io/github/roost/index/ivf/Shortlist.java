package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.ScanKernel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The rows with the best scores that one query has met so far, ties by the smaller id, and where they lie. Up to twice as
 * many as are wanted are gathered, then the worse half is dropped (FAISS's reservoir): that takes constant time a row,
 * where a heap takes a logarithm. Belongs to one thread at a time.
 */
final class Shortlist {
    private static final int MOST_FIRST_ROOM = 1_024;

    private final ScanKernel kernel;
    private final int wanted;
    /** The blocks that rows lie in; a row keeps its block from being freed. */
    private final List<RowBlock> blocks = new ArrayList<>();

    private float[] scores = {};
    /** A block's index above, the row in the block below. */
    private long[] places = {};

    private int size;
    /** One element, which kernels write. */
    private final float[] bound = {Float.POSITIVE_INFINITY};

    /** @param wanted how many rows to keep, at least 1 */
    Shortlist(ScanKernel kernel, int wanted) {
        this.kernel = kernel;
        this.wanted = wanted;
    }

    /** Number of rows held; at most what is wanted, after {@link #shrink}. */
    int size() {
        return size;
    }

    /** The id of a row. It is looked up only when it is needed: most rows that are taken are dropped again. */
    long id(int index) {
        return block(index).id((int) places[index]);
    }

    /** The block that a row lies in. */
    RowBlock block(int index) {
        return blocks.get((int) (places[index] >>> Integer.SIZE));
    }

    /** Where in its {@link #block} a row lies. */
    int row(int index) {
        return (int) places[index];
    }

    /** The score beyond which no row gets in; infinite until as many have been met as are wanted. */
    float bound() {
        return bound[0];
    }

    /** Takes what a scan of rows of a block has found for a query. */
    void take(CodeGroup group, int query, RowBlock block, @Nullable LongPredicate filter) {
        int found = group.found(query);
        if (found == 0) {
            return;
        }
        if (blocks.isEmpty() || blocks.getLast() != block) {
            blocks.add(block);
        }
        makeRoom(found);
        group.copyScores(query, scores, size);
        group.copyPlaces(query, (long) (blocks.size() - 1) << Integer.SIZE, places, size);
        size = filter == null ? size + found : allowed(block, filter, size + found);
        if (size >= 2L * wanted || (bound[0] == Float.POSITIVE_INFINITY && size >= wanted)) {
            shrink();
        }
    }

    /** Keeps those of the rows from {@code size} to {@code end} that a filter allows; returns where they end. */
    private int allowed(RowBlock block, LongPredicate filter, int end) {
        int kept = size;
        for (int i = size; i < end; i++) {
            if (filter.test(block.id((int) places[i]))) {
                scores[kept] = scores[i];
                places[kept++] = places[i];
            }
        }
        return kept;
    }

    /** Takes all that another has; the other is of no use any more. */
    void takeAll(Shortlist other) {
        makeRoom(other.size);
        System.arraycopy(other.scores, 0, scores, size, other.size);
        long shift = (long) blocks.size() << Integer.SIZE;
        for (int i = 0; i < other.size; i++) {
            places[size + i] = other.places[i] + shift;
        }
        size += other.size;
        blocks.addAll(other.blocks);
    }

    /** What is held at most before the worse half is dropped, and what one more scan finds; less where that is much. */
    private int firstRoom() {
        return (int) Math.min(2L * wanted + CodeGroup.MAX_ROWS, MOST_FIRST_ROOM);
    }

    private void makeRoom(int more) {
        if (size + more > scores.length) {
            int room = Math.max(firstRoom(), size + more + size / 2);
            scores = Arrays.copyOf(scores, room);
            places = Arrays.copyOf(places, room);
        }
    }

    /** Drops all but the wanted best, and lowers the bound to the worst of these. */
    void shrink() {
        if (size < wanted) {
            return;
        }
        size = kernel.keep(scores, places, size, wanted, bound);
        if (size > wanted) {
            dropTied();
        }
    }

    /** Of the rows with the worst score drops those with the largest ids. */
    private void dropTied() {
        long[] tied = IntStream.range(0, size)
                .filter(i -> scores[i] == bound[0])
                .mapToLong(this::id)
                .sorted()
                .toArray();
        long mostId = tied[tied.length - (size - wanted) - 1];
        int kept = 0;
        for (int i = 0; i < size && kept < wanted; i++) {
            if (scores[i] < bound[0] || id(i) <= mostId) {
                scores[kept] = scores[i];
                places[kept++] = places[i];
            }
        }
        size = kept;
    }
}
