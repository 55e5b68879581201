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
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The table at one moment, between two updates, and the steps that make it the newest checkpoint: the changes are written to free
 * blocks, then a map of their places, then all is synced, and only then a superblock that refers to the map, over the older of the two.
 * Until that is durable the previous checkpoint is intact, since none of its blocks is overwritten.
 *
 * <p>At that moment nothing is copied, which would be a long step of the writer. Instead, the writer keeps what it changes later as it was,
 * before it changes it the first time; the thread of the checkpoint takes what is there now, and then what was kept in its place, if
 * anything: in this order, so that it cannot miss a change. Used by that thread, but where the writer is named.
 */
final class Checkpoint implements AutoCloseable {
    /** Max blocks of one write. */
    private static final int MAX_RUN = 256;
    /** Pages published in one piece: some microseconds. */
    private static final int PUBLISHED_PER_PIECE = 16;

    private final Superblock before;
    private final ProductCodes codes;
    private final int nodes;
    private final int entry;
    private final CodeErrors errors;
    /** Not changed any more. */
    private final BitSet changedRows;

    private final boolean hasNewCodes;
    private final boolean isLast;
    /** Pages as they were before the writer changed them, empty if they had not changed before; trees, as a table is copied when it grows. */
    private final Map<Integer, Optional<NodePage>> pagesBefore = new ConcurrentSkipListMap<>();

    private final Map<Integer, byte[]> rowBlocksBefore = new ConcurrentSkipListMap<>();
    /** The changed pages; written from copies, since searches read them. */
    private final List<NodePage> pages = new ArrayList<>();

    private final Map<Integer, Integer> pagesAt = new TreeMap<>();
    private final Map<Integer, Integer> rowBlocksAt = new TreeMap<>();
    private final BitSet old = new BitSet();
    private int published;
    private int centroidsAt;
    private int mapAt;
    private int mapBlocks;

    /**
     * Begins to capture the changes; called by the writer between two updates, which then calls {@link #keepPage} and {@link #keepRows}.
     *
     * @param before the previous checkpoint
     * @param hasNewCodes whether codes have been learned since
     * @param isLast whether no update follows before the table is closed
     */
    Checkpoint(Superblock before, DiskGraph graph, BitSet changedRows, boolean hasNewCodes, boolean isLast) {
        this.before = before;
        this.codes = graph.enterCodes();
        this.errors = codes.errors();
        this.hasNewCodes = hasNewCodes;
        this.nodes = codes.nodes();
        this.entry = graph.entry();
        this.changedRows = changedRows;
        this.isLast = isLast;
    }

    BitSet changedRows() {
        return changedRows;
    }

    /** The codes that it has; their memory may be freed. */
    ProductCodes codes() {
        return codes;
    }

    /** Called by the writer before it changes a page. */
    void keepPage(int number, @Nullable NodePage changed) {
        pagesBefore.putIfAbsent(number, Optional.ofNullable(changed));
    }

    /** Called by the writer before it changes rows of a block. */
    void keepRows(int block) {
        if (changedRows.get(block) && !rowBlocksBefore.containsKey(block)) {
            rowBlocksBefore.put(block, codes.copy(block));
            // Who sees any of the change sees what was kept.
            VarHandle.releaseFence();
        }
    }

    private void takePages(DiskGraph graph) {
        for (NodePage page : graph.changed().values()) {
            Optional<NodePage> kept = pagesBefore.get(page.number());
            if (kept == null) {
                pages.add(page);
            } else {
                kept.ifPresent(pages::add);
            }
        }
    }

    private MemorySegment sealedRows(int block) {
        byte[] copy = codes.copy(block);
        VarHandle.acquireFence();
        byte[] kept = rowBlocksBefore.get(block);
        return codes.seal(kept == null ? copy : kept, block, nodes);
    }

    private static MemorySegment sealed(NodePage page) {
        NodePage copy = page.copy();
        copy.seal();
        return copy.memory();
    }

    /** Writes everything but the superblock and syncs it; if that fails, {@link #takeBack} frees the blocks taken. */
    Superblock write(BlockFile file, DiskGraph graph, FreeBlocks free) throws IOException {
        DiskLayout layout = graph.layout();
        int pageCount = layout.pages(nodes);
        int rowBlockCount = layout.rowBlocks(nodes);
        Map<Integer, Supplier<MemorySegment>> blocks = new TreeMap<>();
        takePages(graph);
        for (NodePage page : pages) {
            int at = free.take();
            pagesAt.put(page.number(), at);
            blocks.put(at, () -> sealed(page));
        }
        changedRows.stream().forEach(number -> {
            int at = free.take();
            rowBlocksAt.put(number, at);
            blocks.put(at, () -> sealedRows(number));
        });
        int centroidChecksum = before.centroidChecksum();
        if (hasNewCodes) {
            MemorySegment all = codes.centroids();
            centroidChecksum = Checksum.of(all);
            centroidsAt = free.take(layout.centroidBlocks());
            for (int i = 0; i < layout.centroidBlocks(); i++) {
                MemorySegment block = all.asSlice((long) i * BLOCK_BYTES, BLOCK_BYTES);
                blocks.put(centroidsAt + i, () -> block);
            }
        }
        int count = BlockMap.blocks(pageCount, rowBlockCount);
        mapAt = free.take(count);
        mapBlocks = count;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment map = arena.allocate((long) mapBlocks * BLOCK_BYTES, BLOCK_BYTES);
            graph.map().write(map, pageCount, rowBlockCount, pagesAt, rowBlocksAt);
            for (int i = 0; i < mapBlocks; i++) {
                MemorySegment block = map.asSlice((long) i * BLOCK_BYTES, BLOCK_BYTES);
                blocks.put(mapAt + i, () -> block);
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
                    hasNewCodes ? centroidsAt : before.centroidBlock(),
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

    /** Whether {@link #publishSome} must be called again, once it is durable. */
    boolean hasUnpublished() {
        return published < pages.size();
    }

    /** Called by the writer, which keeps no more: searches read some more pages from it from now on. */
    void publishSome(DiskGraph graph) {
        if (published == 0) {
            // Copies of its pages from before they changed become invalid; there are no later ones until the pages
            // are published.
            graph.moved();
        }
        int end = Math.min(published + PUBLISHED_PER_PIECE, pages.size());
        for (; published < end; published++) {
            NodePage page = pages.get(published);
            old.set(graph.map().page(page.number()));
            graph.map().setPage(page.number(), Objects.requireNonNull(pagesAt.get(page.number())));
            // After the block is set, as DiskGraph explains.
            graph.changed().remove(page.number(), page);
        }
    }

    /** Publishes the rest, which no search reads. Returns the obsolete blocks, except the old map's. */
    BitSet publishRest(DiskGraph graph) {
        rowBlocksAt.forEach((block, at) -> {
            old.set(graph.map().rowBlock(block));
            graph.map().setRowBlock(block, at);
        });
        old.clear(BlockMap.NOWHERE);
        // Those of the build have blocks that nothing else can have.
        if (hasNewCodes && before.centroidBlock() != DiskLayout.SUPERBLOCKS) {
            old.set(
                    before.centroidBlock(),
                    before.centroidBlock() + before.layout().centroidBlocks());
        }
        return old;
    }

    /** Gives up the memory of the codes; called when the writer keeps no more. */
    @Override
    public void close() {
        codes.close();
    }

    /** Writes blocks by their numbers, ascending, consecutive ones in one write. */
    private static void write(BlockFile file, Map<Integer, Supplier<MemorySegment>> blocks, Arena arena)
            throws IOException {
        MemorySegment run = arena.allocate((long) MAX_RUN * BLOCK_BYTES, BLOCK_BYTES);
        int first = 0;
        int count = 0;
        for (Map.Entry<Integer, Supplier<MemorySegment>> block : blocks.entrySet()) {
            if (count == MAX_RUN || (count > 0 && block.getKey() != first + count)) {
                file.write(first, run.asSlice(0, (long) count * BLOCK_BYTES));
                count = 0;
            }
            if (count == 0) {
                first = block.getKey();
            }
            MemorySegment.copy(block.getValue().get(), 0, run, (long) count * BLOCK_BYTES, BLOCK_BYTES);
            count++;
        }
        if (count > 0) {
            file.write(first, run.asSlice(0, (long) count * BLOCK_BYTES));
        }
    }
}
