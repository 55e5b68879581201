package io.github.roost.index.hnsw.walk;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.roost.core.Metric;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The walk in plain Java, for machines where no native library can be loaded, and the oracle of those in C. */
final class JavaWalk implements GraphWalk {
    private static final int LANES = WalkScratch.LANES;

    @Override
    public String name() {
        return "java";
    }

    @Override
    public void walk(GraphImage image, WalkScratch scratch, int width, int mostReranked, NodeSet allowed) {
        scratch.requireBegun(image, width);
        scratch.padQuery();
        Search search = new Search(image, scratch, width, allowed, image.shape().coded());
        search.walk(search.descend());
        search.end();
        if (image.shape().coded()) {
            search.rerank(Math.min(scratch.size(), mostReranked));
        }
    }

    /** The nodes of layer 0 that {@link #walk} computes distances to, in that order. */
    int[] visits(GraphImage image, WalkScratch scratch, int width) {
        scratch.requireBegun(image, width);
        scratch.padQuery();
        Search search =
                new Search(image, scratch, width, NodeSet.ALL, image.shape().coded());
        int[] nodes = new int[Math.toIntExact(search.walk(search.descend()))];
        Arrays.setAll(nodes, i -> scratch.log.getAtIndex(GraphImage.INT, i));
        return nodes;
    }

    @Override
    public void scan(GraphImage image, WalkScratch scratch, int width, NodeSet allowed, int from, int to) {
        scratch.requireBegun(image, width);
        requireNodes(image, from, to);
        scratch.padQuery();
        Search search = new Search(image, scratch, width, allowed, false);
        for (int node = from; node < to; node++) {
            if (allowed.contains(node)) {
                search.found.offer(search.measure(node));
            }
        }
        search.end();
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

    /** From the vectors. */
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

    /** From the codes, less what is the same for all nodes. */
    private static final class CodeMeasure implements Measure {
        private final GraphImage image;
        private final Codes.Weights query;
        private final byte[] codes;

        CodeMeasure(GraphImage image, float[] query) {
            this.image = image;
            this.query = Codes.of(image).weights(query);
            this.codes = new byte[image.shape().dimension()];
        }

        @Override
        public float distance(int node) {
            image.codes(node, codes);
            return image.term(node) + query.slope() * query.sum(codes);
        }
    }

    private static final class Search {
        private final GraphImage image;
        private final WalkScratch scratch;
        private final NodeSet allowed;
        private final VectorMeasure vectors;
        private final Measure measure;
        private final EntryHeap candidates;
        private final BoundedEntries found;
        private long computed;
        private long logged;

        Search(GraphImage image, WalkScratch scratch, int width, NodeSet allowed, boolean byCodes) {
            this.image = image;
            this.scratch = scratch;
            this.allowed = allowed;
            int dimension = image.shape().dimension();
            float[] query = new float[(dimension + LANES - 1) / LANES * LANES];
            MemorySegment.copy(scratch.query, JAVA_FLOAT, 0, query, 0, query.length);
            this.vectors = new VectorMeasure(image, query);
            this.measure = byCodes ? new CodeMeasure(image, query) : vectors;
            this.candidates = new EntryHeap();
            this.found = new BoundedEntries(width);
            allowed.words(image);
        }

        long measure(int node) {
            computed++;
            return WalkScratch.entry(measure.distance(node), node);
        }

        /** The entry nearest the query that going to ever nearer neighbours leads to, layer by layer down to layer 1. */
        long descend() {
            long nearest = measure(0);
            for (int layer = image.levels(); layer >= 1; layer--) {
                long from;
                do {
                    from = nearest;
                    for (int i = 0; i < image.degree(layer); i++) {
                        int neighbor = image.neighbor(layer, (int) from, i);
                        if (neighbor < 0) {
                            break;
                        }
                        nearest = Math.min(nearest, measure(neighbor));
                    }
                } while (nearest != from);
            }
            return nearest;
        }

        /** Walks layer 0; how many nodes it has logged. */
        long walk(long start) {
            try {
                expandFrom(start);
            } finally {
                // Also where a heap cannot grow: a mark that stays hides its node from the thread's next search.
                for (long i = 0; i < logged; i++) {
                    scratch.forget(scratch.log.getAtIndex(GraphImage.INT, i));
                }
            }
            return logged;
        }

        private void expandFrom(long start) {
            visit((int) start);
            candidates.push(start);
            if (allowed.contains((int) start)) {
                found.offer(start);
            }
            while (!candidates.isEmpty()) {
                long nearest = candidates.pop();
                if (nearest > found.bound()) {
                    break;
                }
                for (int i = 0; i < image.degree(0); i++) {
                    int node = image.neighbor(0, (int) nearest, i);
                    if (node < 0) {
                        break;
                    }
                    if (!scratch.isVisited(node)) {
                        visit(node);
                        consider(measure(node));
                    }
                }
            }
        }

        private void visit(int node) {
            scratch.visit(node);
            scratch.logVisit(logged++, node);
        }

        private void consider(long entry) {
            if (entry > found.bound()) {
                return;
            }
            candidates.push(entry);
            if (allowed.contains((int) entry)) {
                found.offer(entry);
            }
        }

        /** Measures the first nodes found by their vectors, and puts them in order; the others are dropped. */
        void rerank(int size) {
            long[] entries = new long[size];
            for (int i = 0; i < size; i++) {
                int node = scratch.node(i);
                entries[i] = WalkScratch.entry(vectors.distance(node), node);
            }
            Arrays.sort(entries);
            MemorySegment.copy(entries, 0, scratch.found, GraphImage.LONG, 0, size);
            scratch.setSize(size);
            scratch.computed.set(GraphImage.LONG, 0, computed + size);
        }

        void end() {
            scratch.setSize(found.writeTo(scratch.found));
            scratch.computed.set(GraphImage.LONG, 0, computed);
        }
    }
}
