package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScoredRows;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The rows with the best scores that one query has met so far, ties by the smaller id, and where they lie; or those that may
 * be the nearest by their scores. Up to twice as many as are to be kept are gathered, then the worse half is dropped (FAISS's
 * reservoir): that takes constant time a row,
 * where a heap takes a logarithm. Belongs to one thread at a time.
 */
final class Shortlist {
    private static final int MAX_FIRST_ROOM = 1_024;
    private final ScanKernel kernel;
    private final int wanted;
    private final @Nullable ScoreMargin margin;
    /** The blocks that rows lie in; a row keeps its block from being freed. */
    private final List<RowBlock> blocks = new ArrayList<>();
    /** Places are a block's index above, the row in the block below. */
    private final ScoredRows rows;

    private float bound = Float.POSITIVE_INFINITY;
    /** With so many rows those are dropped that are of no more interest. */
    private long most;

    /**
     * @param wanted how many rows to keep, at least 1
     * @param margin keeps the rows, too, that may be as near as these; null to go by scores alone
     */
    Shortlist(ScanKernel kernel, int wanted, @Nullable ScoreMargin margin) {
        this.kernel = kernel;
        this.wanted = wanted;
        this.margin = margin;
        this.most = wanted;
        this.rows = spareRows();
    }

    private static ScoredRows spareRows() {
        ArrayDeque<ScoredRows> spare = Scratch.SPARE.take();
        ScoredRows rows = spare.pollLast();
        Scratch.SPARE.giveBack(spare);
        return rows == null ? new ScoredRows() : rows;
    }

    /**
     * Leaves its memory to shortlists that are made later. It is not to be used any more: called by the scan that
     * ends its query, when no other is left that could hold it, and whose lock on the query shows it what others wrote.
     */
    void free() {
        if (rows.room() > MAX_FIRST_ROOM) {
            return;
        }
        rows.clear();
        ArrayDeque<ScoredRows> spare = Scratch.SPARE.take();
        if (spare.size() < Scratch.MAX_SPARE) {
            spare.addLast(rows);
        }
        Scratch.SPARE.giveBack(spare);
    }

    /** Number of rows held. */
    int size() {
        return rows.size();
    }

    /** The id of a row. It is looked up only when it is needed: most rows that are taken are dropped again. */
    long id(int index) {
        return block(index).id(row(index));
    }

    /** The block that a row lies in. */
    RowBlock block(int index) {
        return blocks.get((int) (rows.place(index) >>> Integer.SIZE));
    }

    /** Where in its {@link #block} a row lies. */
    int row(int index) {
        return (int) rows.place(index);
    }

    /** The score beyond which no row gets in; infinite until enough have been met. */
    float bound() {
        return bound;
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
        int before = rows.size();
        rows.add(group, query, (long) (blocks.size() - 1) << Integer.SIZE);
        if (filter != null) {
            rows.keepIf(before, i -> filter.test(id(i)));
        }
        if (rows.size() >= most) {
            shrink();
        }
    }

    /** Takes all that another has; the other is of no use any more. */
    void takeAll(Shortlist other) {
        rows.addAll(other.rows, (long) blocks.size() << Integer.SIZE);
        blocks.addAll(other.blocks);
    }

    /** What is held at most before the worse half is dropped, and what one more scan finds; less where that is much. */
    private int firstRoom() {
        return (int) Math.min(2L * wanted + CodeGroup.MAX_ROWS, MAX_FIRST_ROOM);
    }

    private void makeRoom(int more) {
        if (rows.size() + more > rows.room()) {
            rows.makeRoom(Math.max(firstRoom(), rows.size() + more + rows.size() / 2));
        }
    }

    /** Drops all but the wanted best, and what may be as near as these; lowers the bound to what of the others could get in. */
    void shrink() {
        if (rows.size() < wanted) {
            return;
        }
        bound = Math.min(
                bound,
                margin == null
                        ? kernel.bound(rows, Float.NaN, wanted)
                        : margin.beyond(kernel.bound(rows, ScoreMargin.CERTAIN, wanted)));
        kernel.keepUpTo(rows, bound);
        if (margin == null && rows.size() > wanted) {
            dropTied();
        }
        most = 2L * Math.max(wanted, rows.size());
    }

    /** Of the rows with the worst score drops those with the largest ids; of one that was met twice maybe one of the two. */
    private void dropTied() {
        long[] tied = IntStream.range(0, rows.size())
                .filter(i -> rows.score(i) == bound())
                .mapToLong(this::id)
                .sorted()
                .toArray();
        int stay = tied.length - (rows.size() - wanted);
        long mostId = tied[stay - 1];
        int[] ofMostId = {
            (int) Arrays.stream(tied, 0, stay).filter(id -> id == mostId).count()
        };
        rows.keepIf(0, i -> rows.score(i) < bound() || id(i) < mostId || (id(i) == mostId && ofMostId[0]-- > 0));
    }
}
