package io.github.roost.index.disk.update;

import static io.github.roost.io.BlockIo.BLOCK_BYTES;

import io.github.roost.index.disk.format.BlockMap;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.io.BlockFile;
import io.github.roost.vector.file.Checksum;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The table at one moment, between two updates, and the steps that make it the newest checkpoint: the changes are written to free
 * blocks, then a map of their places, then all is synced, and only then a superblock that refers to the map, over the older of the two.
 * Until that is durable the previous checkpoint is intact, since none of its blocks is overwritten.
 */
final class Checkpoint {
    /** Max blocks of one write. */
    private static final int MAX_RUN = 256;

    private final Superblock before;
    private final int nodes;
    private final int entry;
    /** The changed pages; written from copies, since searches read them. */
    private final List<NodePage> pages;

    private final Map<Integer, byte[]> rowBlocks = new HashMap<>();
    private final BitSet changedRows;
    private final Map<Integer, Integer> pagesAt = new TreeMap<>();
    private final Map<Integer, Integer> rowBlocksAt = new TreeMap<>();
    private int mapAt;
    private int mapBlocks;

    /**
     * Captures the changes; called by the writer between two updates.
     *
     * @param before the previous checkpoint
     */
    Checkpoint(Superblock before, DiskGraph graph, BitSet changedRows) {
        this.before = before;
        this.nodes = graph.codes().nodes();
        this.entry = graph.entry();
        this.pages = new ArrayList<>(graph.changed().values());
        this.changedRows = changedRows;
        changedRows.stream().forEach(block -> rowBlocks.put(block, graph.codes().sealed(block)));
    }

    BitSet changedRows() {
        return changedRows;
    }

    /** Writes everything but the superblock and syncs it; if that fails, {@link #takeBack} frees the blocks taken. */
    Superblock write(BlockFile file, DiskGraph graph, FreeBlocks free) throws IOException {
        DiskLayout layout = graph.layout();
        int pageCount = layout.pages(nodes);
        int rowBlockCount = layout.rowBlocks(nodes);
        Map<Integer, MemorySegment> blocks = new TreeMap<>();
        for (NodePage page : pages) {
            int at = free.take();
            pagesAt.put(page.number(), at);
            NodePage copy = page.copy();
            copy.seal();
            blocks.put(at, copy.memory());
        }
        rowBlocks.forEach((number, bytes) -> {
            int at = free.take();
            rowBlocksAt.put(number, at);
            blocks.put(at, MemorySegment.ofArray(bytes));
        });
        mapBlocks = BlockMap.blocks(pageCount, rowBlockCount);
        mapAt = free.take(mapBlocks);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment map = arena.allocate((long) mapBlocks * BLOCK_BYTES, BLOCK_BYTES);
            graph.map().write(map, pageCount, rowBlockCount, pagesAt, rowBlocksAt);
            for (int i = 0; i < mapBlocks; i++) {
                blocks.put(mapAt + i, map.asSlice((long) i * BLOCK_BYTES, BLOCK_BYTES));
            }
            write(file, blocks, arena);
            file.sync();
            return new Superblock(
                    before.sequence() + 1,
                    before.tableId(),
                    layout,
                    before.metric(),
                    nodes,
                    entry,
                    mapAt,
                    Checksum.of(map),
                    before.centroidChecksum());
        }
    }

    /** Frees the blocks taken for a checkpoint that was not written. */
    void takeBack(FreeBlocks free) {
        pagesAt.values().forEach(free::give);
        rowBlocksAt.values().forEach(free::give);
        for (int i = 0; i < mapBlocks; i++) {
            free.give(mapAt + i);
        }
    }

    /** Called by the writer once it is durable: searches read it from now on. Returns the obsolete blocks, except the old map's. */
    List<Integer> publish(DiskGraph graph) {
        List<Integer> old = new ArrayList<>();
        pagesAt.forEach((page, at) -> {
            old.add(graph.map().page(page));
            graph.map().setPage(page, at);
        });
        graph.moved();
        // After the blocks are set, as DiskGraph explains.
        pages.forEach(page -> graph.changed().remove(page.number(), page));
        rowBlocksAt.forEach((block, at) -> {
            old.add(graph.map().rowBlock(block));
            graph.map().setRowBlock(block, at);
        });
        old.removeIf(block -> block == BlockMap.NOWHERE);
        return old;
    }

    /** Writes blocks by their numbers, ascending, consecutive ones in one write. */
    private static void write(BlockFile file, Map<Integer, MemorySegment> blocks, Arena arena) throws IOException {
        MemorySegment run = arena.allocate((long) MAX_RUN * BLOCK_BYTES, BLOCK_BYTES);
        int first = 0;
        int count = 0;
        for (Map.Entry<Integer, MemorySegment> block : blocks.entrySet()) {
            if (count == MAX_RUN || (count > 0 && block.getKey() != first + count)) {
                file.write(first, run.asSlice(0, (long) count * BLOCK_BYTES));
                count = 0;
            }
            if (count == 0) {
                first = block.getKey();
            }
            MemorySegment.copy(block.getValue(), 0, run, (long) count * BLOCK_BYTES, BLOCK_BYTES);
            count++;
        }
        if (count > 0) {
            file.write(first, run.asSlice(0, (long) count * BLOCK_BYTES));
        }
    }
}
