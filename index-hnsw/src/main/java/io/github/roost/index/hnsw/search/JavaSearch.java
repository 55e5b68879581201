package io.github.roost.index.hnsw.search;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.roost.vector.Metric;
import io.github.roost.vector.math.QueryWeights;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Graph search and scan in plain Java, for machines where no native library can be loaded, and the test oracle of the C code. */
final class JavaSearch implements GraphSearcher {
    private static final int LANES = SearchScratch.LANES;
    /** As in {@code search.h}. */
    static final int MAX_STARTS = 256;
    /** Max ratio of the time of a distance to its time in C. */
    private static final int SLOWER = 16;

    @Override
    public String name() {
        return "java";
    }

    @Override
    public int budget(long rowBytes) {
        return Math.max(TILE, GraphSearcher.super.budget(rowBytes) / SLOWER / TILE * TILE);
    }

    @Override
    public boolean searchOn(
            GraphImage image, SearchScratch scratch, int width, int maxReranked, NodeSet allowed, int budget) {
        scratch.requireBegun(image, width, budget);
        Search search = scratch.inJava;
        if (search == null) {
            search = new Search(image, scratch, width, allowed, image.shape().coded());
            if (scratch.isScan() || image.shape().degree() == 0) {
                search.scanFrom(0, image.shape().nodes());
            } else {
                search.descendFromTop();
            }
            scratch.inJava = search;
        }
        return search.advance(maxReranked, budget);
    }

    @Override
    public void endSearch(SearchScratch scratch) {
        if (scratch.inJava != null) {
            scratch.inJava.end();
        }
    }

    /** The nodes of layer 0 that a graph search computes distances to, in that order. */
    int[] visits(GraphImage image, SearchScratch scratch, int width) {
        search(image, scratch, width, width, NodeSet.ALL, () -> {});
        int[] nodes = new int[Math.toIntExact(scratch.logged())];
        Arrays.setAll(nodes, i -> scratch.log.getAtIndex(GraphImage.INT, i));
        return nodes;
    }

    @Override
    public boolean scanOn(
            GraphImage image, SearchScratch scratch, int width, NodeSet allowed, int from, int to, int budget) {
        scratch.requireBegun(image, width, budget);
        requireNodes(image, from, to);
        Search search = scratch.inJava;
        if (search == null) {
            search = new Search(image, scratch, width, allowed, false);
            search.scanFrom(from, to);
            scratch.inJava = search;
        }
        return search.advance(width, budget);
    }

    @Override
    public int scanTogether(GraphImage image, GroupScratch scratch, NodeSet allowed, int from, int to) {
        scratch.requireBegun(image);
        requireNodes(image, from, to);
        allowed.words(image);
        int compared = 0;
        for (int query = 0; query < scratch.queries(); query++) {
            VectorMeasure measure = new VectorMeasure(image, scratch.vector(query));
            compared = 0;
            for (int node = from; node < to; node++) {
                if (allowed.contains(node)) {
                    scratch.offer(query, SearchScratch.entry(measure.distance(node), node));
                    compared++;
                }
            }
        }
        return compared;
    }

    static void requireNodes(GraphImage image, int from, int to) {
        if (from < 0 || to > image.shape().nodes() || from > to) {
            throw new IllegalArgumentException(
                    "nodes must be within 0 and " + image.shape().nodes() + ", got " + from + " to " + to);
        }
    }

    /** Distances of one query. */
    private interface Measure {
        float distance(int node);
    }

    /** Distances from vectors. */
    private static final class VectorMeasure implements Measure {
        private final GraphImage image;
        private final float[] query;
        private final float[] row;
        private final boolean innerProduct;

        VectorMeasure(GraphImage image, float[] query) {
            this.image = image;
            this.query = query;
            this.row = new float[query.length];
            this.innerProduct = image.shape().metric() == Metric.INNER_PRODUCT;
        }

        @Override
        public float distance(int node) {
            image.vector(node, row);
            float[] sums = new float[LANES];
            for (int at = 0; at < row.length; at += LANES) {
                for (int lane = 0; lane < LANES; lane++) {
                    float q = query[at + lane];
                    float r = row[at + lane];
                    sums[lane] = innerProduct ? Math.fma(q, r, sums[lane]) : Math.fma(q - r, q - r, sums[lane]);
                }
            }
            for (int half = LANES / 2; half > 0; half /= 2) {
                for (int lane = 0; lane < half; lane++) {
                    sums[lane] += sums[lane + half];
                }
            }
            return innerProduct ? 0f - sums[0] : sums[0];
        }
    }

    /** Distances from codes, without the constant that is the same for all nodes. */
    private static final class CodeMeasure implements Measure {
        private final GraphImage image;
        private final QueryWeights.Fine query;
        private final byte[] codes;

        CodeMeasure(GraphImage image, float[] query) {
            this.image = image;
            this.query = QueryWeights.fine(image.center(), image.shape().metric() == Metric.INNER_PRODUCT, query);
            this.codes = new byte[image.shape().dimension()];
        }

        @Override
        public float distance(int node) {
            image.codes(node, codes);
            return image.term(node) + query.slope() * (image.scale(node) * query.sum(codes));
        }
    }

    private enum Phase {
        STARTING,
        DESCENDING,
        SEARCHING,
        SCANNING,
        FORGETTING,
        SORTING,
        RERANKING,
        SORTING_AGAIN,
        DONE
    }

    /** The state machine of one search. */
    static final class Search {
        /** A step that computes a distance takes about this many times as long as one that does not. */
        private static final int CHEAPER = 8;

        private final GraphImage image;
        private final SearchScratch scratch;
        private final NodeSet allowed;
        private final VectorMeasure vectors;
        private final Measure measure;
        private final EntryHeap candidates = new EntryHeap();
        private final BoundedEntries found;
        private long computed;
        private long expanded;

        private Phase phase = Phase.STARTING;
        /** Index of the next element in the phase's list: neighbors of {@link #from}, nodes, the log, or the found nodes. */
        private int next;
        /** Exclusive end of the list, if it is of nodes or found nodes. */
        private int end;
        /** The entry whose neighbors are compared. */
        private long from;
        /** In the upper layers: the nearest entry so far. */
        private long nearest;

        private int layer;
        /** The number of nodes found before the rerank, and the nearest entry of its last third. */
        private int byCode;

        private long nearestOfLastThird;

        private Search(GraphImage image, SearchScratch scratch, int width, NodeSet allowed, boolean byCodes) {
            this.image = image;
            this.scratch = scratch;
            this.allowed = allowed;
            int dimension = image.shape().dimension();
            float[] query = new float[(dimension + LANES - 1) / LANES * LANES];
            MemorySegment.copy(scratch.query, JAVA_FLOAT, 0, query, 0, query.length);
            this.vectors = new VectorMeasure(image, query);
            this.measure = byCodes ? new CodeMeasure(image, query) : vectors;
            this.found = new BoundedEntries(width);
            allowed.words(image);
        }

        void descendFromTop() {
            boolean hasStarts = image.shape().metric() == Metric.INNER_PRODUCT && image.levels() > 0;
            end = hasStarts ? Math.min(image.nodes(1), MAX_STARTS) : 1;
            nearest = Long.MAX_VALUE;
        }

        void scanFrom(int first, int to) {
            next = first;
            end = to;
            phase = Phase.SCANNING;
        }

        /** Continues for a budget of distances; returns whether the search is complete. */
        boolean advance(int maxReranked, int budget) {
            long left = (long) CHEAPER * budget;
            while (left > 0 && phase != Phase.DONE) {
                long before = computed;
                step(maxReranked);
                left -= computed > before ? CHEAPER : 1;
            }
            scratch.setComputed(computed);
            scratch.setExpanded(expanded);
            return phase == Phase.DONE;
        }

        /** Ends the traversal; only the completion of the list of found nodes is left. */
        void end() {
            if (phase == Phase.STARTING
                    || phase == Phase.DESCENDING
                    || phase == Phase.SEARCHING
                    || phase == Phase.SCANNING) {
                next = 0;
                phase = Phase.FORGETTING;
            }
        }

        private void step(int maxReranked) {
            switch (phase) {
                case STARTING -> start();
                case DESCENDING -> descend();
                case SEARCHING -> search();
                case SCANNING -> scan();
                case FORGETTING -> forget();
                case SORTING -> sort(maxReranked);
                case RERANKING -> rerank();
                case SORTING_AGAIN -> sortAgain();
                case DONE -> throw new AssertionError("a search that is done goes no further");
            }
        }

        private long measure(int node) {
            computed++;
            return SearchScratch.entry(measure.distance(node), node);
        }

        /** The next neighbor of {@link #from} in a layer, or -1 after the last. */
        private int neighbor(int inLayer) {
            int neighbor = next < image.degree(inLayer) ? image.neighbor(inLayer, (int) from, next++) : -1;
            if (neighbor >= image.nodes(inLayer)) {
                throw new DamagedImageException();
            }
            return neighbor;
        }

        /** Under inner product the descent begins at the nearest of the first nodes, as {@code search_body.h} explains. */
        private void start() {
            nearest = Math.min(nearest, measure(next++));
            if (next == end) {
                from = nearest;
                while (layer < image.levels() && (int) nearest < image.nodes(layer + 1)) {
                    layer++;
                }
                next = 0;
                phase = Phase.DESCENDING;
            }
        }

        /** One step of the greedy descent through the upper layers. */
        private void descend() {
            if (layer == 0) {
                beginLayer0();
                return;
            }
            int neighbor = neighbor(layer);
            if (neighbor >= 0) {
                nearest = Math.min(nearest, measure(neighbor));
                return;
            }
            if (nearest == from) {
                layer--;
            }
            from = nearest;
            next = 0;
        }

        private void beginLayer0() {
            candidates.push(nearest);
            scratch.visit((int) nearest);
            if (allowed.allows(image, (int) nearest)) {
                found.offer(nearest);
            }
            next = image.degree(0);
            phase = Phase.SEARCHING;
        }

        private void search() {
            int node = neighbor(0);
            if (node >= 0) {
                if (!scratch.isVisited(node)) {
                    scratch.visit(node);
                    consider(measure(node));
                }
            } else if (candidates.isEmpty() || candidates.peek() > found.bound()) {
                next = 0;
                phase = Phase.FORGETTING;
            } else {
                from = candidates.pop();
                next = 0;
                expanded++;
            }
        }

        private void consider(long entry) {
            if (entry > found.bound()) {
                return;
            }
            candidates.push(entry);
            if (allowed.allows(image, (int) entry)) {
                found.offer(entry);
            }
        }

        private void scan() {
            if (next == end) {
                beginSorting();
                return;
            }
            int node = next++;
            if (allowed.allows(image, node)) {
                found.offer(measure(node));
            }
        }

        private void forget() {
            if (next == scratch.logged()) {
                beginSorting();
                return;
            }
            scratch.forget(scratch.log.getAtIndex(GraphImage.INT, next++));
        }

        private void beginSorting() {
            scratch.setSize(found.size());
            phase = Phase.SORTING;
        }

        private void sort(int maxReranked) {
            if (found.size() > 0) {
                found.moveLargestTo(scratch.found);
            } else if (measure == vectors || !image.shape().hasVectors()) {
                phase = Phase.DONE;
            } else {
                byCode = scratch.size();
                next = 0;
                rerankTo(maxReranked);
            }
        }

        /** Begins a rerank, or goes on with more of the nodes found by codes. */
        private void rerankTo(long more) {
            end = (int) Math.min(byCode, more);
            nearestOfLastThird = Long.MAX_VALUE;
            phase = Phase.RERANKING;
        }

        /** Reranks the next found node by its vector. */
        private void rerank() {
            if (next == end) {
                endRerank();
                return;
            }
            int node = scratch.node(next);
            computed++;
            long entry = SearchScratch.entry(vectors.distance(node), node);
            scratch.found.setAtIndex(GraphImage.LONG, next, entry);
            if (next >= end - end / 3) {
                nearestOfLastThird = Math.min(nearestOfLastThird, entry);
            }
            next++;
        }

        /** Goes on while one of the last third is among the nearest half, as {@code search.h} explains. */
        private void endRerank() {
            int nearer = 0;
            for (int i = 0; i < end; i++) {
                nearer += scratch.found.getAtIndex(GraphImage.LONG, i) < nearestOfLastThird ? 1 : 0;
            }
            boolean unsure = nearer < end / 2;
            if (unsure && end < byCode) {
                rerankTo(2L * end);
                return;
            }
            for (int i = 0; i < end; i++) {
                found.offer(scratch.found.getAtIndex(GraphImage.LONG, i));
            }
            scratch.setSize(end);
            scratch.setUnsure(unsure);
            phase = Phase.SORTING_AGAIN;
        }

        private void sortAgain() {
            if (found.size() > 0) {
                found.moveLargestTo(scratch.found);
            } else {
                phase = Phase.DONE;
            }
        }
    }

    /** Bounded max-heap of the {@code capacity} smallest entries offered. Used by one thread. */
    private static final class BoundedEntries {
        private final int capacity;
        /** Bitwise complements of the entries, so that the min-heap pops the largest entry first. */
        private final EntryHeap complements = new EntryHeap();

        BoundedEntries(int capacity) {
            this.capacity = capacity;
        }

        /** The largest entry if the heap is full: larger entries are rejected. {@link Long#MAX_VALUE} otherwise. */
        long bound() {
            return complements.size() < capacity ? Long.MAX_VALUE : ~complements.peek();
        }

        void offer(long entry) {
            if (complements.size() < capacity) {
                complements.push(~entry);
            } else if (entry < bound()) {
                complements.pop();
                complements.push(~entry);
            }
        }

        /** Number of entries. */
        int size() {
            return complements.size();
        }

        /** Moves the largest entry to its index in the ascending list of all entries. */
        void moveLargestTo(MemorySegment list) {
            list.setAtIndex(GraphImage.LONG, complements.size() - 1L, ~complements.peek());
            complements.pop();
        }
    }
}
