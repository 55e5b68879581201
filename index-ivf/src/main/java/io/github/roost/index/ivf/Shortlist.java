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
 * The rows with the best scores that one query has seen so far, ties by the smaller id, and their locations; if exact, all
 * rows that may be among the nearest according to their scores. Rows whose scores are not relied on are always kept, and do not count. Up to twice as many rows as are kept in the end are gathered, then the worse
 * half is dropped (FAISS's reservoir), which takes constant time per row, where a heap takes logarithmic time. Belongs to one
 * thread at a time.
 */
final class Shortlist {
    private static final int MAX_FIRST_ROOM = 1_024;
    private final ScanKernel kernel;
    private final int limit;
    private final boolean exact;
    /** The margin of all rows, if exact; null before the first list. */
    private @Nullable ScoreMargin margin;
    /** The margin of the list that is scanned, if exact. */
    private @Nullable ScoreMargin ofList;
    /** The blocks of the rows; a reference here keeps a block from being freed. */
    private final List<RowBlock> blocks = new ArrayList<>();
    /** A place has the block's index in its high 32 bits, the row in the block in its low 32 bits. */
    private final ScoredRows rows;

    /** A distance if exact, else a score. */
    private float bound = Float.POSITIVE_INFINITY;
    /** Number of rows at which {@link #shrink} drops some. */
    private long max;

    /**
     * @param limit number of rows to keep, at least 1
     * @param exact also keeps rows that may be as near as these; else goes by scores alone
     */
    Shortlist(ScanKernel kernel, int limit, boolean exact) {
        this.kernel = kernel;
        this.limit = limit;
        this.exact = exact;
        this.max = limit;
        this.rows = spareRows();
    }

    private static ScoredRows spareRows() {
        ArrayDeque<ScoredRows> spare = Scratch.SPARE.take();
        ScoredRows rows = spare.pollLast();
        Scratch.SPARE.giveBack(spare);
        return rows == null ? new ScoredRows() : rows;
    }

    /**
     * Gives the memory to later shortlists; this one must not be used afterwards. Called by the thread that finishes the
     * query, when no other thread uses it; the lock on the query has made other threads' writes visible.
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

    /** The id of a row. Looked up only when needed: most rows are dropped again. */
    long id(int index) {
        return block(index).id(row(index));
    }

    /** The block of a row. */
    RowBlock block(int index) {
        return blocks.get((int) (rows.place(index) >>> Integer.SIZE));
    }

    /** The number of a row in its {@link #block}. */
    int row(int index) {
        return (int) rows.place(index);
    }

    /** The max distance, if exact, or else score of rows that still get in; infinite until enough rows have been seen. */
    float bound() {
        return bound;
    }

    /**
     * Prepares the scan of a list for a weighed query.
     *
     * @param max no row beyond this distance or score can be in the answer
     */
    void begin(CodeGroup group, int query, ScalarCodec codec, float max) {
        if (exact) {
            ScoreMargin next = codec.margin(group, query);
            group.lowerScores(query, next.scoreError());
            margin = margin == null ? next : margin.with(next);
            ofList = next;
        }
        group.bound(query, score(ofList, Math.min(max, bound)));
    }

    private static float score(@Nullable ScoreMargin margin, float bound) {
        return margin == null ? bound : margin.within(bound);
    }

    /** Adds the rows that a scan of a block has found for a query, and lowers the query's bound. */
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
        if (rows.size() >= max) {
            shrink();
        }
        group.lowerBound(query, score(ofList, bound));
    }

    /** Adds all rows of another shortlist, which must not be used afterwards. */
    void takeAll(Shortlist other) {
        rows.addAll(other.rows, (long) blocks.size() << Integer.SIZE);
        blocks.addAll(other.blocks);
        margin = margin == null || other.margin == null ? margin : margin.with(other.margin);
    }

    /** Max rows before the worse half is dropped, and those of one more scan; less if that is much. */
    private int firstRoom() {
        return (int) Math.min(2L * limit + CodeGroup.MAX_ROWS, MAX_FIRST_ROOM);
    }

    private void makeRoom(int more) {
        if (rows.size() + more > rows.room()) {
            rows.makeRoom(Math.max(firstRoom(), rows.size() + more + rows.size() / 2));
        }
    }

    /** Drops all but the best {@code limit} rows and rows that may be as near as these; lowers the bound to exclude the dropped rows. */
    void shrink() {
        if (rows.size() < limit) {
            return;
        }
        float score = kernel.bound(rows, ScoreMargin.CERTAIN, limit);
        bound = Math.min(bound, margin == null ? score : margin.farthest(score));
        kernel.keepUpTo(rows, score(margin, bound));
        if (!exact && rows.size() > limit) {
            dropTied();
        }
        max = 2L * Math.max(limit, rows.size());
    }

    private int counted() {
        int counted = 0;
        for (int i = 0; i < rows.size(); i++) {
            counted += rows.score(i) > ScoreMargin.CERTAIN ? 1 : 0;
        }
        return counted;
    }

    /** Of the rows with the worst score, drops those with the largest ids; if a row was seen twice, maybe one of the two. */
    private void dropTied() {
        int tooMany = counted() - limit;
        if (tooMany <= 0) {
            return;
        }
        long[] tied = IntStream.range(0, rows.size())
                .filter(i -> rows.score(i) == bound())
                .mapToLong(this::id)
                .sorted()
                .toArray();
        int stay = tied.length - tooMany;
        long maxId = tied[stay - 1];
        int[] ofMaxId = {
            (int) Arrays.stream(tied, 0, stay).filter(id -> id == maxId).count()
        };
        rows.keepIf(0, i -> rows.score(i) < bound() || id(i) < maxId || (id(i) == maxId && ofMaxId[0]-- > 0));
    }
}
