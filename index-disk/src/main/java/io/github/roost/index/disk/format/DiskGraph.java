package io.github.roost.index.disk.format;

import static io.github.roost.io.BlockIo.BLOCK_BYTES;

import io.github.roost.io.BlockFile;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.file.Checksum;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The current graph of a table: the pages of the file, located by {@link BlockMap}, and over them the pages changed since the
 * last checkpoint, on the heap.
 *
 * <p>One thread at a time writes: it publishes a changed page as a new object that is never written again, so a search
 * that has one sees each of its nodes as before a change or after. A search that finds no changed page takes the block from
 * the map. When a checkpoint has written a page, the writer first sets the block and then removes the changed page; so
 * a search that does not find the changed page finds the block. The block may be reused for another page before the search has read
 * it: then its number or checksum is wrong and the map names another block ({@link #hasMoved}), and the search tries again.
 */
public final class DiskGraph {
    private static final Logger LOG = LoggerFactory.getLogger(DiskGraph.class);
    private static final int MAX_DAMAGED = 1_000;
    /** Room for as many changed pages as there are while a checkpoint is written: to grow, the map would be copied in a step of an update. */
    private static final int CHANGED_PAGES = 1 << 15;

    private final BlockFile file;
    private final Superblock root;
    private volatile ProductCodes codes;
    private final BlockMap map;
    private final ConcurrentHashMap<Integer, NodePage> changed = new ConcurrentHashMap<>(CHANGED_PAGES);
    private volatile int entry;
    private volatile int live;
    private volatile int dead;
    private int moves;
    private final ConcurrentSkipListSet<Integer> damaged = new ConcurrentSkipListSet<>();

    DiskGraph(BlockFile file, Superblock root, ProductCodes codes, BlockMap map) {
        this.file = file;
        this.root = root;
        this.codes = codes;
        this.map = map;
        this.entry = root.entry();
        int liveNow = 0;
        int deadNow = 0;
        for (int node = 0; node < codes.nodes(); node++) {
            byte state = codes.state(node);
            liveNow += state == ProductCodes.LIVE ? 1 : 0;
            deadNow += state == ProductCodes.DEAD ? 1 : 0;
        }
        this.live = liveNow;
        this.dead = deadNow;
        // Or it is made in a step of the first update.
        var _ = codes.inScale(new float[root.layout().dimension()]);
    }

    /** Reads everything but the pages of the newest intact checkpoint. */
    public static DiskGraph read(BlockFile file) throws IOException {
        return read(file, root(file));
    }

    /** Reads everything but the pages of a checkpoint. */
    public static DiskGraph read(BlockFile file, Superblock root) throws IOException {
        DiskLayout layout = root.layout();
        int pages = layout.pages(root.nodes());
        int rowBlocks = layout.rowBlocks(root.nodes());
        int mapBlocks = BlockMap.blocks(pages, rowBlocks);
        // Before memory is allocated: each row block takes a block of the file.
        requireBlocks(file, Math.max(root.mapBlock() + (long) mapBlocks, layout.firstFreeBlock() + (long) rowBlocks));
        ProductCodes codes = new ProductCodes(layout);
        try (Arena arena = Arena.ofConfined()) {
            readSection(file, "centroids", root.centroidBlock(), codes.centroids(), root.centroidChecksum());
            MemorySegment section = arena.allocate((long) mapBlocks * BLOCK_BYTES, BLOCK_BYTES);
            readSection(file, "map", root.mapBlock(), section, root.mapChecksum());
            BlockMap map = BlockMap.read(section, pages, rowBlocks);
            if (!map.isWithin(pages, rowBlocks, layout.firstFreeBlock(), file.blocks())) {
                throw new FileFormatException(
                        file.path(),
                        (long) root.mapBlock() * BLOCK_BYTES,
                        "has a map of blocks that are not between " + layout.firstFreeBlock() + " and "
                                + (file.blocks() - 1));
            }
            codes.grow(root.nodes());
            for (int number = 0; number < rowBlocks; number++) {
                MemorySegment block = codes.block(number);
                file.read(map.rowBlock(number), block);
                if (!Blocks.isWhole(block, number)) {
                    throw damaged(file, "codes", map.rowBlock(number));
                }
            }
            codes.findTwins();
            codes.setErrors(root.errors());
            return new DiskGraph(file, root, codes, map);
        } catch (Throwable failed) {
            codes.close();
            throw failed;
        }
    }

    /**
     * Requires that a file has a table.
     *
     * @throws IOException if it cannot be read or has none
     */
    public static void requireTable(BlockFile file) throws IOException {
        var _ = root(file);
    }

    /** The newest intact superblock of a file; fails if there is none. */
    public static Superblock root(BlockFile file) throws IOException {
        if (file.blocks() < DiskLayout.SUPERBLOCKS) {
            throw new FileFormatException(file.path(), 0, "holds no table: it is too short");
        }
        Superblock newest = null;
        long first = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            for (int i = 0; i < DiskLayout.SUPERBLOCKS; i++) {
                file.read(i, block);
                if (i == 0) {
                    first = block.get(DiskLayout.LONG, 0);
                }
                Superblock read = Superblock.read(block);
                if (read != null && (newest == null || read.sequence() > newest.sequence())) {
                    newest = read;
                }
            }
        }
        if (newest == null) {
            DiskFormats.TABLE.requireNoOther(file.path(), first);
            throw new FileFormatException(file.path(), 0, "holds no whole table: neither of its superblocks is one");
        }
        return newest;
    }

    private static void requireBlocks(BlockFile file, long blocks) throws IOException {
        if (file.blocks() < blocks) {
            throw new FileFormatException(
                    file.path(), file.blocks() * BLOCK_BYTES, "ends here, and should have " + blocks + " blocks");
        }
    }

    private static void readSection(BlockFile file, String what, long block, MemorySegment into, int checksum)
            throws IOException {
        requireBlocks(file, block + into.byteSize() / BLOCK_BYTES);
        file.read(block, into);
        if (Checksum.of(into) != checksum) {
            throw damaged(file, what, block);
        }
    }

    private static FileFormatException damaged(BlockFile file, String what, long block) {
        return new FileFormatException(file.path(), block * BLOCK_BYTES, "has damaged " + what + ": wrong checksum");
    }

    public BlockFile file() {
        return file;
    }

    /** The superblock that the table was opened from. */
    public Superblock root() {
        return root;
    }

    public DiskLayout layout() {
        return root.layout();
    }

    public Metric metric() {
        return root.metric();
    }

    /** The current codes. Only the writer may read their memory without {@link #enterCodes}. */
    public ProductCodes codes() {
        return codes;
    }

    /** The current codes, for a reader that closes them when it is done, while others may take their place. The caller must hold the table. */
    public ProductCodes enterCodes() {
        ProductCodes entered = tryEnterCodes();
        if (entered == null) {
            throw new IllegalStateException("the codes of a closed table cannot be read");
        }
        return entered;
    }

    /** As {@link #enterCodes}; null if they are freed. */
    public @Nullable ProductCodes tryEnterCodes() {
        ProductCodes now = codes;
        while (!now.enter()) {
            ProductCodes later = codes;
            if (later == now) {
                return null;
            }
            now = later;
        }
        return now;
    }

    /** Puts other codes of the same rows in place of the current ones. Writer only. */
    public void setCodes(ProductCodes learned) {
        ProductCodes before = codes;
        codes = learned;
        before.replaced(() -> {});
    }

    public BlockMap map() {
        return map;
    }

    public int entry() {
        return entry;
    }

    public void setEntry(int node) {
        entry = node;
    }

    /** Number of live rows. */
    public int live() {
        return live;
    }

    /** Number of deleted rows whose nodes edges may still lead to. */
    public int dead() {
        return dead;
    }

    /** Changes the counts of live rows and deleted nodes. Writer only. */
    public void count(int moreLive, int moreDead) {
        // One thread at a time writes, so the sums need no atomic update.
        int liveNow = live + moreLive;
        int deadNow = dead + moreDead;
        live = liveNow;
        dead = deadNow;
    }

    /** Pages that differ from the last checkpoint. */
    public ConcurrentHashMap<Integer, NodePage> changed() {
        return changed;
    }

    /** The current version of a page, if it has changed since the last checkpoint. */
    @Nullable
    public NodePage changed(int page) {
        return changed.get(page);
    }

    /** How often blocks have been reassigned to other pages. Writer only. */
    public int moves() {
        return moves;
    }

    /** Called when blocks have been reassigned to other pages. Writer only. */
    public void moved() {
        moves++;
    }

    /** Publishes a new version of a page. Writer only. */
    public void publish(NodePage page) {
        changed.put(page.number(), page);
    }

    /** The block of an unchanged page. */
    public int block(int page) {
        return map.page(page);
    }

    /**
     * Reads the current version of a page, blocking; null if it is unusable, which is reported. A page that was never published, whose nodes are
     * not linked yet, has none. The caller must hold the table.
     */
    @Nullable
    public NodePage read(int number, MemorySegment into) {
        try {
            while (true) {
                NodePage inMemory = changed(number);
                int block = block(number);
                if (inMemory != null) {
                    return inMemory;
                }
                if (block == BlockMap.NOWHERE) {
                    return NodePage.empty(layout(), number);
                }
                file.read(block, into);
                NodePage page = new NodePage(layout(), number, into);
                if (page.isWhole()) {
                    return page;
                }
                if (!hasMoved(number, block)) {
                    damaged(number, null);
                    return null;
                }
            }
        } catch (IOException failure) {
            damaged(number, failure);
            return null;
        }
    }

    /** Called by any thread when a page cannot be used: reports each page once. */
    public void damaged(int page, @Nullable IOException failure) {
        if (damaged.size() < MAX_DAMAGED && damaged.add(page)) {
            LOG.error(
                    "page {} of {} (byte {}) is left out of searches: {}",
                    page,
                    file.path(),
                    (long) block(page) * BLOCK_BYTES,
                    failure == null ? "its checksum is wrong" : failure.getMessage());
        }
    }

    /** Numbers of the damaged pages that were found, ascending. */
    public List<Integer> damagedPages() {
        return List.copyOf(damaged);
    }

    /** Whether the block that was read for a page is out of date. */
    public boolean hasMoved(int page, long block) {
        return changed.containsKey(page) || map.page(page) != block;
    }
}
