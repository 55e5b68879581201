package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.DamagedImageException;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.GraphSearcher;
import io.github.roost.index.hnsw.search.GraphSearchers;
import io.github.roost.index.hnsw.search.NodeSet;
import io.github.roost.index.hnsw.search.SearchPlan;
import io.github.roost.index.hnsw.search.SearchScratch;
import io.github.roost.vector.FileFormatException;
import org.jspecify.annotations.Nullable;

/**
 * A search of a {@link Graph} that runs in pieces, so that the caller can check for cancellation between them. The result
 * does not depend on the size of the pieces. Used by one thread.
 */
public final class GraphSearch implements AutoCloseable {
    private static final GraphSearcher SEARCHER = GraphSearchers.preferred();

    private final Graph graph;
    private final GraphImage image;
    private final int width;
    private final NodeSet allowed;
    private final int piece;
    private @Nullable SearchScratch scratch;
    private boolean begun;
    private boolean through;

    GraphSearch(Graph graph, float[] query, int width, long @Nullable [] allowed, int labels) {
        this.graph = graph;
        this.image = graph.image();
        this.width = width;
        this.piece = SEARCHER.budget(image.searchedBytes());
        SearchScratch taken = SearchScratch.take();
        boolean ready = false;
        try {
            taken.begin(image, width);
            taken.setQuery(query);
            this.allowed = allowed == null ? NodeSet.ALL : NodeSet.ofLabels(allowed, labels, taken);
            ready = true;
        } finally {
            if (!ready) {
                taken.giveBack();
            }
        }
        this.scratch = taken;
    }

    /**
     * The memory that a search and its repetitions touch: the scratch, and two bit sets of accepted documents on the heap. With a filter it
     * is an upper bound. Without one nothing limits a search; then it suffices for a repetition with a larger width in a graph of up to 32
     * neighbors per node, or for one search in a graph of any.
     *
     * @param nodes number of nodes of the graph
     * @param width width of the search
     * @param limit max number of distances that a search with a filter computes; {@link Integer#MAX_VALUE} without a filter
     * @return the number of bytes
     */
    public static long bytes(int nodes, int width, int limit) {
        return SearchScratch.bytes(nodes, SearchPlan.mostVisits(width, limit)) + 2L * Math.ceilDiv(nodes, Byte.SIZE);
    }

    /**
     * Continues the search for at most about 25 microseconds.
     *
     * @param distances distances to compute before returning, from 1; the search may compute up to a quarter more, plus 3
     * @return whether the search is complete, so that its result can be read
     * @throws FileFormatException if the graph is damaged or was modified; the search cannot be continued then
     */
    public boolean advance(long distances) throws FileFormatException {
        if (through) {
            return true;
        }
        long tiles =
                Math.clamp((distances + GraphSearcher.TILE - 1) / GraphSearcher.TILE, 1, piece / GraphSearcher.TILE);
        begun = true;
        try {
            through = SEARCHER.searchOn(image, scratch(), width, width, allowed, (int) tiles * GraphSearcher.TILE);
        } catch (DamagedImageException damaged) {
            FileFormatException named =
                    new FileFormatException(graph.name(), 0, "names a neighbor or a label that does not exist");
            named.initCause(damaged);
            throw named;
        }
        return through;
    }

    /**
     * Ends the search early, with the nodes found so far as its result.
     *
     * @throws FileFormatException if the graph is damaged or was modified
     */
    public void end() throws FileFormatException {
        if (!begun) {
            through = true;
        }
        if (!through) {
            SEARCHER.endSearch(scratch());
            while (!advance(piece)) {
                // Completes the list of found nodes.
            }
        }
    }

    /**
     * The number of distances computed so far.
     *
     * @return 0 or more
     */
    public long visited() {
        return scratch().computed();
    }

    /**
     * The number of nodes found, once the search is complete.
     *
     * @return at most the width
     */
    public int size() {
        return scratch().size();
    }

    /**
     * The ordinal of a found node.
     *
     * @param i the node's rank by code, from 0, the nearest, to {@link #size()} exclusive
     * @return its ordinal
     * @throws FileFormatException if the ordinal in the graph is out of range
     */
    public int ordinal(int i) throws FileFormatException {
        return graph.ordinal(scratch().node(i));
    }

    /**
     * Whether the search expanded many more nodes than it would if allowed nodes were spread evenly. Then the filter allows mostly nodes far
     * from the query, and a wider search finds more.
     *
     * @param nodesAllowed number of nodes that the filter allows
     * @return whether to search again with a larger width
     */
    public boolean wentFar(int nodesAllowed) {
        return SearchPlan.wentFar(scratch().expanded(), image.shape().nodes(), nodesAllowed, width);
    }

    private SearchScratch scratch() {
        SearchScratch taken = scratch;
        if (taken == null) {
            throw new IllegalStateException("the search is closed");
        }
        return taken;
    }

    /** Returns the search's scratch memory for reuse by later searches. */
    @Override
    public void close() {
        SearchScratch taken = scratch;
        if (taken != null) {
            scratch = null;
            if (!through) {
                // A visited mark left behind would hide its node from the next search.
                taken.abandon();
            }
            taken.giveBack();
        }
    }
}
