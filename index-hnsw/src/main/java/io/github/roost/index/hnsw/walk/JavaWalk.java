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
    public void walk(GraphImage image, WalkScratch scratch, int width, NodeSet allowed) {
        scratch.requireBegun(image, width);
        scratch.padQuery();
        Search search = new Search(image, scratch, width, allowed);
        search.walk(search.descend());
        search.end();
    }

    /** The nodes of layer 0 that {@link #walk} computes distances to, in that order. */
    int[] visits(GraphImage image, WalkScratch scratch, int width) {
        scratch.requireBegun(image, width);
        scratch.padQuery();
        Search search = new Search(image, scratch, width, NodeSet.ALL);
        int[] nodes = new int[Math.toIntExact(search.walk(search.descend()))];
        Arrays.setAll(nodes, i -> scratch.log.getAtIndex(GraphImage.INT, i));
        return nodes;
    }

    @Override
    public void scan(GraphImage image, WalkScratch scratch, int width, NodeSet allowed, int from, int to) {
        scratch.requireBegun(image, width);
        requireNodes(image, from, to);
        scratch.padQuery();
        Search search = new Search(image, scratch, width, allowed);
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

    private static final class Search {
        private final GraphImage image;
        private final WalkScratch scratch;
        private final NodeSet allowed;
        private final float[] query;
        private final float[] row;
        private final boolean innerProduct;
        private final EntryHeap candidates;
        private final BoundedEntries found;
        private long computed;

        Search(GraphImage image, WalkScratch scratch, int width, NodeSet allowed) {
            this.image = image;
            this.scratch = scratch;
            this.allowed = allowed;
            int dimension = image.shape().dimension();
            this.query = new float[(dimension + LANES - 1) / LANES * LANES];
            this.row = new float[query.length];
            MemorySegment.copy(scratch.query, JAVA_FLOAT, 0, query, 0, query.length);
            this.innerProduct = image.shape().metric() == Metric.INNER_PRODUCT;
            this.candidates = new EntryHeap();
            this.found = new BoundedEntries(width);
            allowed.words(image);
        }

        long measure(int node) {
            image.vector(node, row);
            computed++;
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
            return WalkScratch.entry(innerProduct ? 0f - sums[0] : sums[0], node);
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
            long logged = visit((int) start, 0);
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
                        logged = visit(node, logged);
                        consider(measure(node));
                    }
                }
            }
            for (long i = 0; i < logged; i++) {
                scratch.forget(scratch.log.getAtIndex(GraphImage.INT, i));
            }
            return logged;
        }

        private long visit(int node, long logged) {
            scratch.visit(node);
            scratch.logVisit(logged, node);
            return logged + 1;
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

        void end() {
            scratch.setSize(found.writeTo(scratch.found));
            scratch.computed.set(GraphImage.LONG, 0, computed);
        }
    }
}
