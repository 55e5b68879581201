package io.github.roost.lucene;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.graph.GraphSearch;
import java.io.IOException;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.SparseFixedBitSet;
import org.apache.lucene.util.hnsw.RandomVectorScorer;
import org.jspecify.annotations.Nullable;

/**
 * A search of one field of one segment. Searches the graph by codes, scores the nearest nodes by their vectors, and collects
 * them. If a graph search is no less work than a scan, or does not find enough nodes, scores all accepted vectors.
 * Used by one thread.
 *
 * <p>A collector need not collect the k best: it may collect all hits above a score, or the best per parent. So a search was wide
 * enough if the worst hit that it found is not competitive any more.
 *
 * <p>A vector whose squared length is 0 has no cosine, and Lucene's scorers return NaN for it, which would rank before every other score.
 * Here it has the lowest score, 0, and does not count as the worst hit: a wider search would find more of them.
 */
final class SegmentSearch {
    /** Vectors scored per bulk call, between two checks for early termination. */
    static final int RUN = 64;
    /** The worst of no scores. */
    private static final float NONE = Float.POSITIVE_INFINITY;

    private static final float LOWEST_COSINE_SCORE = 0;

    private final @Nullable Graph graph;
    private final RandomVectorScorer scorer;
    private final int maxDoc;
    private final KnnCollector collector;
    private final @Nullable Bits accepted;
    private final int acceptedCount;

    private final int[] ordinals = new int[RUN];
    private final float[] scores = new float[RUN];
    /** Ordinals already collected, if a repeated search might find them again. */
    private @Nullable SparseFixedBitSet collected;

    SegmentSearch(
            @Nullable Graph graph, RandomVectorScorer scorer, int maxDoc, KnnCollector collector, AcceptDocs acceptDocs)
            throws IOException {
        this.graph = graph;
        this.scorer = scorer;
        this.maxDoc = maxDoc;
        this.collector = collector;
        this.accepted = acceptDocs.bits();
        this.acceptedCount = accepted == null ? scorer.maxOrd() : Math.min(acceptDocs.cost(), scorer.maxOrd());
    }

    /**
     * Whether a search scores all accepted vectors, for a graph search would be no less work.
     *
     * @param accepted number of accepted vectors
     */
    static boolean scans(@Nullable Graph graph, int k, @Nullable KnnSearchStrategy strategy, int accepted) {
        return scans(graph, width(graph, k, strategy), accepted);
    }

    /** Without links a larger width costs a search nothing but the rerank, so it never finds less for its codes. */
    private static int width(@Nullable Graph graph, int k, @Nullable KnnSearchStrategy strategy) {
        int width = SearchEffort.widthOf(strategy, k);
        return graph == null || graph.hasLinks() ? width : Math.max(width, graph.reranked(k, Integer.MAX_VALUE));
    }

    private static boolean scans(@Nullable Graph graph, int width, int accepted) {
        return graph == null || width >= graph.nodes() || graph.scanIsShorter(accepted, width);
    }

    void run(float[] query) throws IOException {
        int width = width(graph, collector.k(), collector.getSearchStrategy());
        long @Nullable [] words = graph == null ? null : words();
        boolean done = false;
        while (!done) {
            if (graph == null || scans(graph, width, acceptedCount)) {
                scan();
                return;
            }
            done = search(graph, query, width, words);
            width = graph.wider(width);
        }
    }

    /** Searches the graph; returns false if the search must be repeated with a larger width. */
    private boolean search(Graph searched, float[] query, int width, long @Nullable [] words) throws IOException {
        try (GraphSearch search = searched.search(query, width, words, maxDoc)) {
            boolean ended = runToEnd(search);
            if (!ended && search.wentFar(acceptedCount)) {
                return false;
            }
            if (!ended && search.size() < width) {
                // All reachable nodes were visited and the list is not full: unreachable nodes may be missing.
                scan();
                return true;
            }
            return collect(search, searched.reranked(collector.k(), width)) || ended;
        } catch (IllegalStateException failure) {
            throw isClosed(failure) ? new AlreadyClosedException("the segment has been closed", failure) : failure;
        }
    }

    /** Whether a failure comes from accessing the memory of a closed segment. */
    private static boolean isClosed(IllegalStateException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if ("Already closed".equals(cause.getMessage())) {
                return true;
            }
        }
        return false;
    }

    /** Runs the search; returns whether the collector ended it early. */
    private boolean runToEnd(GraphSearch search) throws IOException {
        long counted = 0;
        boolean through = false;
        while (!through) {
            long left = collector.visitLimit() - collector.visitedCount();
            through = search.advance(Math.max(1, left));
            long more = search.visited() - counted;
            if (more > 0) {
                // A piece may exceed its budget slightly; the excess is not counted, so the visit limit is not reported
                // as exceeded.
                collector.incVisitedCount((int) Math.min(more, Math.max(1, left)));
                counted += more;
            }
            if (!through && collector.earlyTerminated()) {
                search.end();
                return true;
            }
        }
        return collector.earlyTerminated();
    }

    /**
     * Scores and collects the found nodes.
     *
     * @param enough number of nearest nodes to score; the others are scored only if the worst of these is still competitive
     * @return whether the search was wide enough
     */
    private boolean collect(GraphSearch search, int enough) throws IOException {
        int size = search.size();
        int compared = Math.min(enough, size);
        float worst = collect(search, 0, compared);
        if (compared < size && worst > collector.minCompetitiveSimilarity()) {
            worst = Math.min(worst, collect(search, compared, size));
        }
        if (worst <= collector.minCompetitiveSimilarity() || worst == NONE) {
            return true;
        }
        remember(search);
        return false;
    }

    /** Scores and collects the found nodes from one rank to another; returns the worst score, {@link #NONE} if there is none. */
    private float collect(GraphSearch search, int from, int to) throws IOException {
        float worst = NONE;
        for (int at = from; at < to; at += RUN) {
            int count = Math.min(RUN, to - at);
            for (int i = 0; i < count; i++) {
                ordinals[i] = search.ordinal(at + i);
            }
            scorer.bulkScore(ordinals, scores, count);
            for (int i = 0; i < count; i++) {
                if (!Float.isNaN(scores[i])) {
                    worst = Math.min(worst, scores[i]);
                }
                if (!isCollected(ordinals[i])) {
                    collector.collect(scorer.ordToDoc(ordinals[i]), ranked(scores[i]));
                }
            }
        }
        return worst;
    }

    private static float ranked(float score) {
        return Float.isNaN(score) ? LOWEST_COSINE_SCORE : score;
    }

    private void remember(GraphSearch search) throws IOException {
        if (collected == null) {
            collected = new SparseFixedBitSet(scorer.maxOrd());
        }
        for (int i = 0; i < search.size(); i++) {
            collected.set(search.ordinal(i));
        }
    }

    private boolean isCollected(int ordinal) {
        return collected != null && collected.get(ordinal);
    }

    /** Scores all accepted vectors. */
    private void scan() throws IOException {
        OrdinalRuns runs = ordinalsToScan();
        int count = runs.next(ordinals);
        while (count > 0 && !collector.earlyTerminated()) {
            collectRun(ordinals, count);
            count = runs.next(ordinals);
        }
    }

    /** The ordinals that a scan scores. */
    OrdinalRuns ordinalsToScan() throws IOException {
        return new OrdinalRuns(scorer, maxDoc, accepted, collected);
    }

    /** Scores and collects a run of a scan. */
    void collectRun(int[] run, int count) throws IOException {
        collector.incVisitedCount(count);
        // Negated: the best score is NaN if any is.
        if (!(scorer.bulkScore(run, scores, count) <= collector.minCompetitiveSimilarity())) {
            for (int i = 0; i < count; i++) {
                collector.collect(scorer.ordToDoc(run[i]), ranked(scores[i]));
            }
        }
    }

    /** The accepted documents as a bit set; null for all. */
    private long @Nullable [] words() {
        if (accepted == null) {
            return null;
        }
        if (accepted instanceof FixedBitSet bits && bits.length() >= maxDoc) {
            return bits.getBits();
        }
        FixedBitSet all = new FixedBitSet(maxDoc);
        all.set(0, maxDoc);
        accepted.applyMask(all, 0);
        return all.getBits();
    }
}
