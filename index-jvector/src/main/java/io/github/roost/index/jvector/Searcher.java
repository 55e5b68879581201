package io.github.roost.index.jvector;

import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.NodeQueue;
import io.github.jbellis.jvector.graph.NodesIterator;
import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult.NodeScore;
import io.github.jbellis.jvector.graph.disk.OnDiskGraphIndex;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.graph.similarity.ScoreFunction;
import io.github.jbellis.jvector.graph.similarity.SearchScoreProvider;
import io.github.jbellis.jvector.util.Bits;
import io.github.jbellis.jvector.util.BoundedLongHeap;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;
import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.SearchContext;
import io.github.roost.vector.SearchCost;
import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A searcher of jvector with its view of the graph and the vectors it reads. Searches as jvector does alone, and in addition counts what it
 * reads, and ends at a visit limit or deadline. Used by one thread at a time; a search that failed leaves it usable.
 */
final class Searcher implements Closeable {
    private static final VectorTypeSupport VECTORS =
            VectorizationProvider.getInstance().getVectorTypeSupport();
    /** Vectors compared between two checks whether the search has expired: a few microseconds in memory. A power of two. */
    private static final int VISITS_PER_CHECK = 32;

    /** The context between searches. */
    private static final SearchContext NONE = SearchContext.outside((nodes, bytes) -> {});

    private final GraphSearcher searcher;
    private final GuardedView view;
    private final RandomAccessVectorValues vectors;
    /** Receives each vector that is read from a file; null if vectors are in memory. */
    private final @Nullable VectorFloat<?> read;

    private final VectorSimilarityFunction similarity;
    private final Score score = new Score();
    private final SearchScoreProvider scores = new DefaultSearchScoreProvider(score);
    private final long vectorBytes;
    private final long neighborsBytes;

    private VectorFloat<?> query;
    private SearchContext context = NONE;
    private long limit;
    private long visited;
    private long expanded;
    private boolean isCutShort;

    /**
     * Creates a searcher.
     *
     * @param graph the graph to search
     * @param vectors its vectors, shared with other threads; null if they are stored in the graph
     * @param similarity scores the vectors
     */
    Searcher(
            ImmutableGraphIndex graph,
            @Nullable RandomAccessVectorValues vectors,
            VectorSimilarityFunction similarity) {
        this.searcher = new GraphSearcher(graph);
        this.view = new GuardedView(searcher.getView());
        this.similarity = similarity;
        searcher.setView(view);
        this.query = VECTORS.createFloatVector(graph.getDimension());
        if (vectors == null) {
            this.vectors = (OnDiskGraphIndex.View) view.graph;
            this.read = VECTORS.createFloatVector(graph.getDimension());
        } else {
            this.vectors = vectors.isValueShared() ? vectors.copy() : vectors;
            this.read = null;
        }
        this.vectorBytes = (long) graph.getDimension() * Float.BYTES;
        this.neighborsBytes = (long) graph.getDegree(0) * Integer.BYTES;
    }

    /**
     * Searches the graph.
     *
     * @param sought the query
     * @param k the maximum number of rows
     * @param ef width of the search, at least k
     * @param accepted the ordinals that may be found
     * @param visitLimit the number of vectors compared after which no node is expanded
     * @param running receives the traffic and tells whether the search has expired
     * @return the nearest nodes found, nearest first
     * @throws DeadlineExceededException if the search has expired
     */
    NodeScore[] search(float[] sought, int k, int ef, Bits accepted, long visitLimit, SearchContext running) {
        begin(sought, visitLimit, running);
        try {
            // A threshold of 0 would exclude negative scores, which inner products may have.
            return searcher.search(scores, k, ef, Float.NEGATIVE_INFINITY, 0, accepted)
                    .getNodes();
        } finally {
            running.touched(visited, visited * vectorBytes + expanded * neighborsBytes);
            context = NONE;
        }
    }

    /** Compares all rows with a query; otherwise as {@link #search}. */
    NodeScore[] scan(float[] sought, int k, GraphRows rows, SearchContext running) {
        begin(sought, Long.MAX_VALUE, running);
        try {
            NodeQueue nearest = new NodeQueue(new BoundedLongHeap(k), NodeQueue.Order.MIN_HEAP);
            rows.ordinals().forEach(ordinal -> nearest.push(ordinal, score.similarityTo(ordinal)));
            NodeScore[] found = new NodeScore[nearest.size()];
            for (int i = found.length - 1; i >= 0; i--) {
                float best = nearest.topScore();
                found[i] = new NodeScore(nearest.pop(), best);
            }
            return found;
        } finally {
            running.touched(visited, visited * vectorBytes);
            context = NONE;
        }
    }

    private void begin(float[] sought, long visitLimit, SearchContext running) {
        query = VECTORS.createFloatVector(sought);
        context = running;
        limit = visitLimit;
        visited = 0;
        expanded = 0;
        isCutShort = false;
    }

    /** The cost of the last search. */
    SearchCost cost() {
        return new SearchCost(visited, expanded);
    }

    /** Whether the last search ended at its visit limit. */
    boolean isCutShort() {
        return isCutShort;
    }

    /** The nodes that are not deleted. */
    Bits liveNodes() {
        return view.liveNodes();
    }

    /** The vector of a node; valid until the next call or search. */
    VectorFloat<?> vector(int node) {
        if (read == null) {
            return vectors.getVector(node);
        }
        vectors.getVectorInto(node, read, 0);
        return read;
    }

    @Override
    public void close() throws IOException {
        searcher.close();
    }

    /** The similarity of nodes to the query. */
    private final class Score implements ScoreFunction.ExactScoreFunction {
        @Override
        public float similarityTo(int node) {
            if ((++visited & (VISITS_PER_CHECK - 1)) == 0 && context.expired()) {
                // If the search was cancelled, its future is already done and nobody sees this exception.
                throw new DeadlineExceededException();
            }
            return similarity.compare(query, vector(node));
        }
    }

    /** A view of a graph that shows no more neighbors after the visit limit: the search then returns what it has found. */
    private final class GuardedView implements ImmutableGraphIndex.View {
        private final ImmutableGraphIndex.View graph;

        GuardedView(ImmutableGraphIndex.View graph) {
            this.graph = graph;
        }

        @Override
        public void processNeighbors(
                int level,
                int node,
                ScoreFunction scoreFunction,
                ImmutableGraphIndex.IntMarker marker,
                ImmutableGraphIndex.NeighborProcessor processor) {
            if (visited >= limit) {
                isCutShort = true;
                return;
            }
            expanded++;
            graph.processNeighbors(level, node, scoreFunction, marker, processor);
        }

        @Override
        public NodesIterator getNeighborsIterator(int level, int node) {
            return graph.getNeighborsIterator(level, node);
        }

        @Override
        @SuppressWarnings("deprecation") // abstract in the interface
        public int size() {
            return graph.size();
        }

        @Override
        public ImmutableGraphIndex.@Nullable NodeAtLevel entryNode() {
            return graph.entryNode();
        }

        @Override
        public Bits liveNodes() {
            return graph.liveNodes();
        }

        @Override
        public int getIdUpperBound() {
            return graph.getIdUpperBound();
        }

        @Override
        public boolean contains(int level, int node) {
            return graph.contains(level, node);
        }

        @Override
        public void close() throws IOException {
            graph.close();
        }
    }
}
