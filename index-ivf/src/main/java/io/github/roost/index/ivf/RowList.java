package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.RowRun;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The rows of one inverted list: a chain of off-heap blocks, each a run of padded rows beside a run of ids.
 *
 * <p>One writer at a time, under a lock of the caller's; any number of readers, without one. The writer fills a place
 * beyond what is published and then publishes it with a volatile store of {@link Block#published}, which a reader loads
 * before it reads rows: so no reader sees half a row. A row is removed by one store of a NaN to its first component:
 * whichever of its components a reader has seen, it computes the old distance or none, and rows without a distance are
 * in no answer. Compaction copies what lives into a fresh chain and publishes that; a reader goes on with the chain it
 * has, whose memory is freed once nobody refers to it.
 */
final class RowList {
    private static final int LEAST_BLOCK_ROWS = 64;
    private static final int MOST_BLOCK_ROWS = 1_024;
    /** Dead rows are scanned too, so a list is compacted when they are this part of it, and more than a handful. */
    private static final double MOST_DEAD = .25;

    private static final int FEW_DEAD = 32;

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final int stride;
    private volatile Block[] blocks = {};
    /** Places handed out, those of dead rows included. The writer's. */
    private int places;
    /** The writer's. */
    private int dead;

    RowList(int dimension) {
        this.stride = RowRun.strideOf(dimension);
    }

    /** A list with {@code rows} places for {@link #write}, which readers see after {@link #publish}. */
    static RowList withRoomFor(int dimension, int rows) {
        RowList list = new RowList(dimension);
        if (rows > 0) {
            list.blocks = new Block[] {new Block(0, rows, list.stride)};
            list.places = rows;
        }
        return list;
    }

    /** Writes a place of a list with room; different places by different threads. */
    void write(int place, long id, float[] row) {
        block(place).write(place, id, row);
    }

    /** Shows readers all that has been written. */
    void publish() {
        for (Block block : blocks) {
            block.published = block.capacity;
        }
    }

    /** The rows that readers see now, in runs; dead ones among them. */
    List<RowRun> runs() {
        Block[] seen = blocks;
        List<RowRun> runs = new ArrayList<>(seen.length);
        for (Block block : seen) {
            int count = block.published;
            if (count > 0) {
                runs.add(block.all.slice(0, count));
            }
        }
        return runs;
    }

    /** Appends a row; its place. The writer's. */
    int add(long id, float[] row) {
        Block last = blocks.length == 0 ? null : blocks[blocks.length - 1];
        if (last == null || last.published == last.capacity) {
            last = new Block(places, Math.clamp(places / 2, LEAST_BLOCK_ROWS, MOST_BLOCK_ROWS), stride);
            Block[] grown = Arrays.copyOf(blocks, blocks.length + 1);
            grown[blocks.length] = last;
            blocks = grown;
        }
        int place = places++;
        last.write(place, id, row);
        last.published = place - last.first + 1;
        return place;
    }

    /** Removes the row at a place. The writer's. */
    void kill(int place) {
        block(place).kill(place);
        dead++;
    }

    /** Number of rows that live. The writer's. */
    int live() {
        return places - dead;
    }

    /** Whether enough is dead for {@link #compact} to pay. The writer's. */
    boolean isSparse() {
        return dead > FEW_DEAD && dead > MOST_DEAD * places;
    }

    /** Told of rows that live. */
    @FunctionalInterface
    interface RowVisitor {
        void row(long id, int place);
    }

    /** Moves what lives together; told where each row lives from now on. The writer's. */
    void compact(RowVisitor moved) {
        int live = live();
        Block fresh = new Block(0, Math.max(live, LEAST_BLOCK_ROWS), stride);
        int[] next = {0};
        for (Block block : blocks) {
            block.forEachLive((id, place) -> {
                fresh.copy(next[0], block, place);
                moved.row(id, next[0]);
                next[0]++;
            });
        }
        fresh.published = live;
        blocks = new Block[] {fresh};
        places = live;
        dead = 0;
    }

    /** Visits the rows that live among those published. */
    void forEachLive(RowVisitor visitor) {
        for (Block block : blocks) {
            block.forEachLive(visitor);
        }
    }

    /** A copy of the row at a place. */
    float[] row(int place, int dimension) {
        return block(place).row(place, dimension);
    }

    private Block block(int place) {
        for (Block block : blocks) {
            if (place >= block.first && place < block.first + block.capacity) {
                return block;
            }
        }
        throw new IndexOutOfBoundsException("the list has no place " + place);
    }

    /** Places {@code first} to {@code first + capacity} exclusive. */
    private static final class Block {
        private final int first;
        private final int capacity;
        private final MemorySegment vectors;
        private final MemorySegment ids;
        private final RowRun all;
        private final long rowBytes;
        /** How many places readers may read; only grows. */
        private volatile int published;

        Block(int first, int capacity, int stride) {
            this.first = first;
            this.capacity = capacity;
            this.rowBytes = (long) stride * Float.BYTES;
            Arena arena = Arena.ofAuto();
            this.vectors = arena.allocate(capacity * rowBytes, 64);
            this.ids = arena.allocate((long) capacity * Long.BYTES, 64);
            this.all = new RowRun(vectors, ids, capacity, stride);
        }

        void write(int place, long id, float[] row) {
            MemorySegment.copy(row, 0, vectors, FLOAT, (place - first) * rowBytes, row.length);
            ids.setAtIndex(LONG, place - first, id);
        }

        void copy(int place, Block from, int fromPlace) {
            MemorySegment.copy(
                    from.vectors, (fromPlace - from.first) * rowBytes, vectors, (place - first) * rowBytes, rowBytes);
            ids.setAtIndex(LONG, place - first, from.ids.getAtIndex(LONG, fromPlace - from.first));
        }

        void kill(int place) {
            vectors.set(FLOAT, (place - first) * rowBytes, Float.NaN);
        }

        float[] row(int place, int dimension) {
            float[] row = new float[dimension];
            MemorySegment.copy(vectors, FLOAT, (place - first) * rowBytes, row, 0, dimension);
            return row;
        }

        void forEachLive(RowVisitor visitor) {
            int count = published;
            for (int i = 0; i < count; i++) {
                if (!Float.isNaN(vectors.get(FLOAT, i * rowBytes))) {
                    visitor.row(ids.getAtIndex(LONG, i), first + i);
                }
            }
        }
    }
}
