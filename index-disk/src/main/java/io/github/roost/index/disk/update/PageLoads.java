package io.github.roost.index.disk.update;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Pending;
import io.github.roost.index.disk.format.BlockMap;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.search.SearchCounts;
import io.github.roost.io.BlockReads;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The pages that one job of the writer needs: changed pages are in memory, others are read and copied. A copy is valid until
 * blocks are reassigned to other pages. Writer only.
 */
final class PageLoads {
    private static final int MAX_READS = 16;
    /** Pages checked and copied per piece: some microseconds. */
    private static final int PAGES_PER_PIECE = 4;

    private record Loaded(int moves, NodePage page) {}

    private final DiskGraph graph;
    private final SearchCounts counts;
    private final BlockReads reads;
    private final Map<Integer, Loaded> loaded = new HashMap<>();
    private final Set<Integer> damaged = new HashSet<>();
    /** Pages being read, and their blocks. */
    private final List<Integer> reading = new ArrayList<>();

    private final List<Integer> readingBlocks = new ArrayList<>();
    /** Max reads at once: fewer if a worker has fewer buffers. */
    private int maxReads = MAX_READS;

    private int movesAtRead;
    private boolean isTaking;

    PageLoads(DiskGraph graph, SearchCounts counts, BlockReads reads) {
        this.graph = graph;
        this.counts = counts;
        this.reads = reads;
    }

    /** The current version of a page; null if it must be read first, or is damaged. */
    @Nullable
    NodePage page(int number) {
        NodePage changed = graph.changed(number);
        if (changed != null) {
            return changed;
        }
        Loaded copy = loaded.get(number);
        if (copy != null && copy.moves == graph.moves()) {
            return copy.page;
        }
        return graph.block(number) == BlockMap.NOWHERE ? NodePage.empty(graph.layout(), number) : null;
    }

    boolean isDamaged(int number) {
        return damaged.contains(number);
    }

    private boolean isMissing(int number) {
        return page(number) == null && !damaged.contains(number);
    }

    /**
     * Starts reads of the missing pages, or takes some completed reads: one piece of work either way.
     *
     * @return the reads to wait for, or null if it took some ({@link #isTaking}), no page is missing, or none can be read now
     */
    @Nullable
    Pending load(SearchContext context, Iterable<Integer> numbers) {
        isTaking = takeSome();
        if (isTaking) {
            return null;
        }
        if (reads.inFlight() > 0) {
            return reads.all();
        }
        movesAtRead = graph.moves();
        long[] blocks = new long[MAX_READS];
        int count = 0;
        for (int number : numbers) {
            if (count < maxReads && isMissing(number) && !reading.contains(number)) {
                int block = graph.block(number);
                reading.add(number);
                readingBlocks.add(block);
                blocks[count++] = block;
            }
        }
        if (count == 0) {
            return null;
        }
        try {
            reads.read(context, graph.file(), blocks, count);
        } catch (BlockReads.BuffersExhaustedException busy) {
            // Too many reads at once: to be tried again.
            maxReads = busy.isForGood() ? maxReads / 2 : maxReads;
            reading.clear();
            readingBlocks.clear();
            return null;
        }
        return reads.all();
    }

    /** Whether the last {@link #load} took completed reads, of which there may be more. */
    boolean isTaking() {
        return isTaking;
    }

    /** Takes some completed reads; returns whether there were any. */
    private boolean takeSome() {
        int taken = 0;
        for (BlockReads.Read read = nextOf(taken); read != null; read = nextOf(taken)) {
            taken++;
            counts.addUpdatePage();
            try {
                int index = readingBlocks.indexOf((int) read.block());
                if (index >= 0) {
                    int number = reading.remove(index);
                    readingBlocks.remove(index);
                    take(number, read);
                }
            } finally {
                reads.giveBack(read);
            }
        }
        return taken > 0;
    }

    private BlockReads.@Nullable Read nextOf(int taken) {
        return taken < PAGES_PER_PIECE ? reads.next() : null;
    }

    private void take(int number, BlockReads.Read read) {
        if (read.failure() == null) {
            NodePage page = new NodePage(graph.layout(), number, read.memory());
            if (page.isWhole() && page.isSound(graph.codes())) {
                loaded.put(number, new Loaded(movesAtRead, page.copy()));
                return;
            }
        }
        if (!graph.hasMoved(number, read.block())) {
            damaged.add(number);
            graph.damaged(number, read.failure());
        }
    }

    /** Drops the copies. */
    void clear() {
        loaded.clear();
    }
}
