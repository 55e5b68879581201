package io.github.roost.index.disk.update;

import static io.github.roost.io.BlockIo.BLOCK_BYTES;

import io.github.roost.index.disk.format.BlockMap;
import io.github.roost.index.disk.format.CodeErrors;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.io.BlockFile;
import io.github.roost.vector.file.Checksum;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The table at one moment, between two updates, and the steps that make it the newest checkpoint: the changes are written to free
 * blocks, then a map of their places, then all is synced, and only then a superblock that refers to the map, over the older of the two.
 * Until that is durable the previous checkpoint is intact, since none of its blocks is overwritten.
 */
final class Checkpoint {
    /** Max blocks of one write. */
    private static final int MAX_RUN = 256;

    private final Superblock before;
    private final ProductCodes codes;
    private final int nodes;
    private final int entry;
    /** The changed pages; written from copies, since searches read them. */
    private final List<NodePage> pages;

    private final Map<Integer, byte[]> rowBlocks = new HashMap<>();
    private final BitSet changedRows;
    private final boolean isLast;
    private final Map<Integer, Integer> pagesAt = new TreeMap<>();
    private final Map<Integer, Integer> rowBlocksAt = new TreeMap<>();
    private final CodeErrors errors;
    /** Null if those of the previous checkpoint are current. */
    private final byte @Nullable [] centroids;

    private int centroidsAt;
    private int mapAt;
    private int mapBlocks;

    /**
     * Captures the changes; called by the writer between two updates.
     *
     * @param before the previous checkpoint
     * @param hasNewCodes whether codes have been learned since
     * @param isLast whether no update follows before the table is closed
     */
    Checkpoint(Superblock before, DiskGraph graph, BitSet changedRows, boolean hasNewCodes, boolean isLast) {
        this.before = before;
        this.codes = graph.codes();
        this.errors = codes.errors();
        this.centroids = hasNewCodes ? codes.centroids().toArray(ValueLayout.JAVA_BYTE) : null;
        this.nodes = graph.codes().nodes();
        this.entry = graph.entry();
        this.pages = new ArrayList<>(graph.changed().values());
        this.changedRows = changedRows;
        this.isLast = isLast;
        changedRows.stream().forEach(block -> rowBlocks.put(block, graph.codes().sealed(block)));
    }

    BitSet changedRows() {
        return changedRows;
    }

    /** The codes that it has; their memory may be freed. */
    ProductCodes codes() {
        return codes;
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
        int centroidChecksum = before.centroidChecksum();
        if (centroids != null) {
            MemorySegment all = MemorySegment.ofArray(centroids);
            centroidChecksum = Checksum.of(all);
            centroidsAt = free.take(layout.centroidBlocks());
            for (int i = 0; i < layout.centroidBlocks(); i++) {
                blocks.put(centroidsAt + i, all.asSlice((long) i * BLOCK_BYTES, BLOCK_BYTES));
            }
        }
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
                    isLast,
                    before.tableId(),
                    layout,
                    before.metric(),
                    nodes,
                    entry,
                    mapAt,
                    Checksum.of(map),
                    centroids == null ? before.centroidBlock() : centroidsAt,
                    centroidChecksum,
                    errors);
        }
    }

    /** Frees the blocks taken for a checkpoint that was not written. */
    void takeBack(FreeBlocks free) {
        pagesAt.values().forEach(free::give);
        rowBlocksAt.values().forEach(free::give);
        for (int i = 0; i < mapBlocks; i++) {
            free.give(mapAt + i);
        }
        for (int i = 0; centroidsAt > 0 && i < before.layout().centroidBlocks(); i++) {
            free.give(centroidsAt + i);
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
        // Those of the build have blocks that nothing else can have.
        for (int i = 0;
                centroids != null
                        && before.centroidBlock() != DiskLayout.SUPERBLOCKS
                        && i < before.layout().centroidBlocks();
                i++) {
            old.add(before.centroidBlock() + i);
        }
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
