package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.RowRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one inverted list: a chain of off-heap blocks, each with padded rows, as floats or codes or both, and
 * their ids.
 *
 * <p>One writer at a time, under a lock of the caller's; any number of readers, without a lock. The writer fills a place
 * beyond the published rows and then publishes it with a volatile store, {@link RowBlock#publishUpTo}, which a reader loads
 * before it reads rows: so no reader sees half a row. From a tile of codes a reader may also load rows that are being
 * written; their scores are dropped. A row is deleted by one store of NaN to its first component,
 * and one to the term of its codes: a concurrent reader computes the old distance or NaN, and rows
 * with a NaN distance are in no answer. Compaction copies the live rows into a fresh chain and publishes it; a reader goes
 * on with its old chain, whose memory is freed once it is unreachable.
 */
final class RowList {
    /** One tile of codes; small, as every list of a newly built table begins a block with its first added row. */
    private static final int MIN_BLOCK_ROWS = 16;

    private static final int MAX_BLOCK_ROWS = 1_024;
    /**
     * A new block's share of its list. Larger blocks would leave more memory empty, and the addition that begins a block waits
     * for it; smaller ones would make scans switch blocks more often.
     */
    private static final double GROWTH = .125;
    /** Blocks may grow to this size, however short the list is. */
    private static final int FEW_ROWS = 64;
    /** Deleted rows are scanned too, so a list is compacted when more than this share, and more than a few, are deleted. */
    private static final double MAX_DELETED_SHARE = .25;

    private static final int FEW_DELETED = 32;

    private final RowLayout layout;
    private volatile RowBlock[] blocks = {};
    /** Checks the vectors before they are first read; null once that has been done. */
    private volatile @Nullable Check unchecked;
    /** Places in use, including deleted rows. Writer only. */
    private int places;
    /** Rows after these places that readers do not see yet. Writer only. */
    private int staged;
    /** The blocks without new blocks for staged rows. Writer only. */
    private RowBlock[] beforeStaging = blocks;
    /** Number of deleted rows. Writer only. */
    private int deleted;
    /** Deleted rows below which compaction is not tried again. Writer only. */
    private int minDeleted;

    private volatile boolean compactionQueued;

    RowList(RowLayout layout) {
        this.layout = layout;
    }

    /** A list with {@code rows} places for {@link #write}, which readers see after {@link #publish}. */
    static RowList withRoomFor(RowLayout layout, int rows) {
        RowList list = new RowList(layout);
        if (rows > 0) {
            list.blocks = new RowBlock[] {new RowBlock(0, rows, layout)};
            list.places = rows;
        }
        return list;
    }

    /** A list without rows, with memory for {@code capacity} rows. */
    static RowList empty(RowLayout layout, int capacity) {
        RowList list = new RowList(layout);
        list.blocks = new RowBlock[] {new RowBlock(0, capacity, layout)};
        return list;
    }

    RowLayout layout() {
        return layout;
    }

    /** Checks that vectors are as they were saved. */
    @FunctionalInterface
    interface Check {
        void run() throws IOException;
    }

    /** The rows of a file, in {@link RowLayout#bytes} of memory; checked before they are first read. */
    static RowList mapped(RowLayout layout, long[] ids, MemorySegment bytes, Check check) {
        RowList list = new RowList(layout);
        if (ids.length > 0) {
            list.blocks = new RowBlock[] {RowBlock.mapped(ids, bytes, layout)};
            list.places = ids.length;
            list.unchecked = check;
        }
        return list;
    }

    /** Checks the rows of a file, if that has not been done yet. */
    void verify() {
        checkedBlocks();
    }

    /** Two threads may both run the check, with the same result. */
    private RowBlock[] checkedBlocks() {
        Check check = unchecked;
        if (check != null) {
            try {
                check.run();
            } catch (IOException damaged) {
                throw new UncheckedIOException(damaged);
            }
            unchecked = null;
        }
        return blocks;
    }

    /** Writes a place of a list with room; different threads may write different places. */
    void write(int place, long id, float[] row) {
        block(place).write(place, id, row);
    }

    /** Shows readers all written rows. */
    void publish() {
        for (RowBlock block : blocks) {
            block.publishAll();
        }
    }

    /** The rows that readers see now as floats, in runs; includes deleted rows. */
    List<RowRun> runs() {
        RowBlock[] seen = checkedBlocks();
        List<RowRun> runs = new ArrayList<>(seen.length);
        for (RowBlock block : seen) {
            int count = block.published();
            if (count > 0) {
                runs.add(block.floats(count));
            }
        }
        return runs;
    }

    /** The blocks that readers see now. */
    List<RowBlock> blocks() {
        return List.of(checkedBlocks());
    }

    /** The memory of the current blocks. */
    Stream<MemorySegment> memory() {
        return Arrays.stream(blocks).flatMap(RowBlock::memory);
    }

    /** Bytes of the memory of the current blocks. */
    long bytes() {
        return memory().mapToLong(MemorySegment::byteSize).sum();
    }

    /** Number of rows that readers see now, including deleted rows. */
    int rows() {
        int rows = 0;
        for (RowBlock block : blocks) {
            rows += block.published();
        }
        return rows;
    }

    /** Appends a row and returns its place. Writer only. */
    int add(long id, float[] row) {
        try {
            int place = stage(id, row);
            publishStaged();
            return place;
        } finally {
            dropStaged();
        }
    }

    /** The bytes that the next {@link #stage} takes; 0 if the last block has a place left. Writer only. */
    long bytesToStage() {
        int place = places + staged;
        return lastHolds(place) ? 0 : RowBlock.bytes(nextCapacity(place), layout);
    }

    /**
     * Appends a row that readers do not see before {@link #publishStaged} and returns its place. If it fails for lack of memory,
     * {@link #dropStaged} must follow. Writer only.
     */
    int stage(long id, float[] row) {
        if (staged == 0) {
            beforeStaging = blocks;
        }
        int place = places + staged;
        // Before the block, which may fail: then there is something to drop.
        staged++;
        blockForMore(place).write(place, id, row);
        return place;
    }

    /** Shows readers the staged rows; allocates nothing. Writer only. */
    void publishStaged() {
        if (staged > 0) {
            int end = places + staged;
            for (RowBlock block : blocks) {
                block.publishUpTo(end);
            }
            places = end;
            staged = 0;
            beforeStaging = blocks;
        }
    }

    /** Drops the staged rows and the blocks begun for them; allocates nothing. Writer only. */
    void dropStaged() {
        if (staged > 0) {
            blocks = beforeStaging;
            staged = 0;
        }
    }

    private RowBlock blockForMore(int place) {
        if (lastHolds(place)) {
            return blocks[blocks.length - 1];
        }
        RowBlock next = new RowBlock(place, nextCapacity(place), layout);
        RowBlock[] grown = Arrays.copyOf(blocks, blocks.length + 1);
        grown[blocks.length] = next;
        blocks = grown;
        return next;
    }

    private boolean lastHolds(int place) {
        return blocks.length > 0 && blocks[blocks.length - 1].holds(place);
    }

    /** Small for the first two blocks; then twice the previous block, up to a share of the list. */
    private int nextCapacity(int rows) {
        if (blocks.length < 2) {
            return MIN_BLOCK_ROWS;
        }
        int enough = Math.clamp((int) (GROWTH * rows), FEW_ROWS, MAX_BLOCK_ROWS);
        return Math.min(enough, 2 * blocks[blocks.length - 1].capacity());
    }

    /** Deletes the row at a place. Writer only. */
    void markDeleted(int place) {
        makeWritable(place);
        block(place).markDeleted(place);
        deleted++;
    }

    /** Makes the row at a place writable, so that {@link #markDeleted} cannot fail. Writer only. */
    void makeWritable(int place) {
        RowBlock block = block(place);
        if (block.isReadOnly()) {
            // A file is never written to: its list is copied to memory at its first change.
            RowBlock copy = block.inMemory();
            blocks = Arrays.stream(blocks)
                    .map(each -> each == block ? copy : each)
                    .toArray(RowBlock[]::new);
        }
    }

    /** Number of live rows. Writer only. */
    int live() {
        return places - deleted;
    }

    /** Whether enough rows are deleted for {@link #compact} to pay. Writer only. */
    boolean isSparse() {
        return deleted > FEW_DELETED && deleted > MAX_DELETED_SHARE * places && deleted >= minDeleted;
    }

    /** Whether {@link #compact} is pending. */
    boolean isCompactionQueued() {
        return compactionQueued;
    }

    /** Sets whether {@link #compact} is pending. Any thread may. */
    void setCompactionQueued(boolean queued) {
        compactionQueued = queued;
    }

    /** Called with live rows. */
    @FunctionalInterface
    interface RowVisitor {
        void row(long id, int place);
    }

    /**
     * Moves the live rows together and calls {@code moved} with the new place of each, once all have been moved: if memory is
     * out, none has. Writer only.
     */
    void compact(RowVisitor moved) {
        int live = live();
        // A failure for lack of memory takes long, and would be repeated with the next deleted row.
        minDeleted = deleted + deleted / 2;
        RowBlock fresh = new RowBlock(0, Math.max(live, MIN_BLOCK_ROWS), layout);
        RowBlock[] compacted = {fresh};
        int[] next = {0};
        for (RowBlock block : checkedBlocks()) {
            block.forEachLive((id, place) -> fresh.copy(next[0]++, block, place));
        }
        fresh.publishUpTo(live);
        blocks = compacted;
        places = live;
        deleted = 0;
        minDeleted = 0;
        for (int place = 0; place < live; place++) {
            moved.row(fresh.id(place), place);
        }
    }

    /** Visits the live rows among the published. */
    void forEachLive(RowVisitor visitor) {
        for (RowBlock block : checkedBlocks()) {
            block.forEachLive(visitor);
        }
    }

    /** A copy of the row at a place, decoded if no floats are stored. */
    float[] row(int place) {
        return block(place).row(place);
    }

    /** Copies the rows at some places to a block of this layout, one after the other. */
    void copyTo(RowBlock target, int[] from) {
        for (int i = 0; i < from.length; i++) {
            target.copy(i, block(from[i]), from[i]);
        }
    }

    private RowBlock block(int place) {
        for (RowBlock block : checkedBlocks()) {
            if (block.holds(place)) {
                return block;
            }
        }
        throw new IndexOutOfBoundsException("the list has no place " + place);
    }
}
