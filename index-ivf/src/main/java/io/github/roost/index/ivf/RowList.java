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
 * The rows of one inverted list: a chain of off-heap blocks, each a run of padded rows, floats or codes or both, beside
 * a run of ids.
 *
 * <p>One writer at a time, under a lock of the caller's; any number of readers, without one. The writer fills a place
 * beyond what is published and then publishes it with a volatile store, {@link RowBlock#publishUpTo}, which a reader loads
 * before it reads rows: so no reader sees half a row. Of a tile of codes it may load rows that are being written, beside
 * those that it wants; what it makes of these is dropped. A row is removed by one store of a NaN to its first component,
 * and one to the term of its codes: whatever of it a reader has seen, it computes the old distance or none, and rows
 * without a distance are in no answer. Compaction copies what lives into a fresh chain and publishes that; a reader goes
 * on with the chain it has, whose memory is freed once nobody refers to it.
 */
final class RowList {
    /** A tile of codes. Lists of a table that has just been built all begin a block with their first row. */
    private static final int MIN_BLOCK_ROWS = 16;

    private static final int MAX_BLOCK_ROWS = 1_024;
    /**
     * A list grows by this part of it. More would leave more memory empty, and whoever adds the row that begins a block waits
     * for the block; less would make scans turn to another block more often.
     */
    private static final double GROWTH = .125;
    /** Of which no block need be smaller however short the list is. */
    private static final int FEW_ROWS = 64;
    /** Dead rows are scanned too, so a list is compacted when they are this part of it, and more than a handful. */
    private static final double MAX_DEAD = .25;

    private static final int FEW_DEAD = 32;

    private final RowLayout layout;
    private volatile RowBlock[] blocks = {};
    /** Looks through the vectors before they are first read, or null when that has been done. */
    private volatile @Nullable Check unchecked;
    /** Places handed out, those of deleted rows included. The writer's. */
    private int places;
    /** Rows behind these places that readers do not see yet. The writer's. */
    private int staged;
    /** The blocks without those that were begun for staged rows. The writer's. */
    private RowBlock[] beforeStaging = blocks;
    /** The writer's. */
    private int dead;
    /** With fewer deleted rows compaction is not tried again. The writer's. */
    private int leastDead;

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

    /** A list without rows, and with the memory for some. */
    static RowList empty(RowLayout layout, int capacity) {
        RowList list = new RowList(layout);
        list.blocks = new RowBlock[] {new RowBlock(0, capacity, layout)};
        return list;
    }

    /** Finds out whether vectors are what they were when they were saved. */
    @FunctionalInterface
    interface Check {
        void run() throws IOException;
    }

    /** Rows of a file, {@link RowLayout#bytes} of them; these are checked before anybody reads them. */
    static RowList mapped(RowLayout layout, long[] ids, MemorySegment bytes, Check check) {
        RowList list = new RowList(layout);
        if (ids.length > 0) {
            list.blocks = new RowBlock[] {RowBlock.mapped(ids, bytes, layout)};
            list.places = ids.length;
            list.unchecked = check;
        }
        return list;
    }

    /** Checks rows of a file, if that has not been done yet. */
    void verify() {
        checkedBlocks();
    }

    /** Two threads may come here at once and find the same. */
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

    /** Writes a place of a list with room; different places by different threads. */
    void write(int place, long id, float[] row) {
        block(place).write(place, id, row);
    }

    /** Shows readers all that has been written. */
    void publish() {
        for (RowBlock block : blocks) {
            block.publishAll();
        }
    }

    /** The rows that readers see now as floats, in runs; dead ones among them. */
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

    /** What the blocks lie in that there are now. */
    Stream<MemorySegment> memory() {
        return Arrays.stream(blocks).flatMap(RowBlock::memory);
    }

    /** How many blocks there are. */
    int blockCount() {
        return blocks.length;
    }

    /** How many rows readers see now, dead ones among them. */
    int rows() {
        int rows = 0;
        for (RowBlock block : blocks) {
            rows += block.published();
        }
        return rows;
    }

    /** Appends a row; its place. The writer's. */
    int add(long id, float[] row) {
        try {
            int place = stage(id, row);
            publishStaged();
            return place;
        } finally {
            dropStaged();
        }
    }

    /**
     * Appends a row that readers do not see before {@link #publishStaged}; its place. Where that fails, for want of memory,
     * {@link #dropStaged} must follow. The writer's.
     */
    int stage(long id, float[] row) {
        if (staged == 0) {
            beforeStaging = blocks;
        }
        int place = places + staged;
        // From here on there is something to be dropped.
        staged++;
        blockForMore(place).write(place, id, row);
        return place;
    }

    /** Shows readers what has been staged; needs no memory. The writer's. */
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

    /** Takes back what has been staged, and the blocks that were begun for it; needs no memory. The writer's. */
    void dropStaged() {
        if (staged > 0) {
            blocks = beforeStaging;
            staged = 0;
        }
    }

    private RowBlock blockForMore(int place) {
        RowBlock last = blocks.length == 0 ? null : blocks[blocks.length - 1];
        if (last != null && last.holds(place)) {
            return last;
        }
        RowBlock next = new RowBlock(place, nextCapacity(place), layout);
        RowBlock[] grown = Arrays.copyOf(blocks, blocks.length + 1);
        grown[blocks.length] = next;
        blocks = grown;
        return next;
    }

    /** Each block is twice the one before it, until it is large enough for the list. */
    private int nextCapacity(int rows) {
        if (blocks.length < 2) {
            return MIN_BLOCK_ROWS;
        }
        int enough = Math.clamp((int) (GROWTH * rows), FEW_ROWS, MAX_BLOCK_ROWS);
        return Math.min(enough, 2 * blocks[blocks.length - 1].capacity());
    }

    /** Removes the row at a place. The writer's. */
    void kill(int place) {
        makeWritable(place);
        block(place).kill(place);
        dead++;
    }

    /** Has the row at a place where {@link #kill} cannot fail. The writer's. */
    void makeWritable(int place) {
        RowBlock block = block(place);
        if (block.isReadOnly()) {
            // A file is never written to: its list moves into memory with its first change.
            RowBlock copy = block.inMemory();
            blocks = Arrays.stream(blocks)
                    .map(each -> each == block ? copy : each)
                    .toArray(RowBlock[]::new);
        }
    }

    /** Number of rows that live. The writer's. */
    int live() {
        return places - dead;
    }

    /** Whether enough is dead for {@link #compact} to pay. The writer's. */
    boolean isSparse() {
        return dead > FEW_DEAD && dead > MAX_DEAD * places && dead >= leastDead;
    }

    /** Whether {@link #compact} is yet to come. */
    boolean isCompactionQueued() {
        return compactionQueued;
    }

    /** Notes whether {@link #compact} is yet to come. Anybody may. */
    void setCompactionQueued(boolean queued) {
        compactionQueued = queued;
    }

    /** Told of rows that live. */
    @FunctionalInterface
    interface RowVisitor {
        void row(long id, int place);
    }

    /**
     * Moves what lives together; told where each row lives from now on, once all have been moved: where there is no memory
     * for that, none has. The writer's.
     */
    void compact(RowVisitor moved) {
        int live = live();
        // Where it fails for want of memory, it takes long to do so, and would again with the next row that dies.
        leastDead = dead + dead / 2;
        RowBlock fresh = new RowBlock(0, Math.max(live, MIN_BLOCK_ROWS), layout);
        RowBlock[] compacted = {fresh};
        int[] next = {0};
        for (RowBlock block : checkedBlocks()) {
            block.forEachLive((id, place) -> fresh.copy(next[0]++, block, place));
        }
        fresh.publishUpTo(live);
        blocks = compacted;
        places = live;
        dead = 0;
        leastDead = 0;
        for (int place = 0; place < live; place++) {
            moved.row(fresh.id(place), place);
        }
    }

    /** Visits the rows that live among those published. */
    void forEachLive(RowVisitor visitor) {
        for (RowBlock block : checkedBlocks()) {
            block.forEachLive(visitor);
        }
    }

    /** A copy of the row at a place; what its codes stand for where floats are not kept. */
    float[] row(int place) {
        return block(place).row(place);
    }

    /** Copies the rows at some places, one after the other, to a block of this layout. */
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
