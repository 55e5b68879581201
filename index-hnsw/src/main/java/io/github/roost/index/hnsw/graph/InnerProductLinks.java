package io.github.roost.index.hnsw.graph;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.roost.index.hnsw.search.BuildMemory;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.GraphSearcher;
import io.github.roost.index.hnsw.search.NodeSet;
import io.github.roost.index.hnsw.search.SearchScratch;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.BuildWork;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Adds a second kind of neighbors to an inner-product graph of rows whose norms vary: the nodes with the largest product with each
 * node. A node that has a large product with a query also has one with rows in the query's direction. So a search that has reached
 * such a row is one step from the node, although the node is far away (after Liu et al., "Understanding and Improving Proximity Graph
 * Based Maximum Inner Product Search", AAAI 2020, which keeps two graphs). Used once, before the image is searched.
 */
final class InnerProductLinks {
    /** Nodes per step of batch work. */
    private static final int RUN = 16;
    /** The second pass finds better neighbors by searching with the links of the first. */
    private static final int PASSES = 2;
    /**
     * One neighbor in this many is of the second kind. Many nodes have the same ones, so that more of them lead to no more nodes,
     * and take the places of neighbors by distance.
     */
    private static final int PLACES_PER_LARGE = 8;

    private final BuildWork work;
    private final GraphImage image;
    private final GraphSearcher searcher;
    private final int width;
    private final int degree;
    /** Each node's neighbors by distance, nearest first as the build left them: {@code degree} numbers per node, -1 after the last. */
    private final MemorySegment near;
    /** Each node's neighbors by inner product, largest first; only {@code degree}, because a list takes no more of them. */
    private final MemorySegment large;
    /** The nodes that have found each node, as {@code large} has those found; of too many, those of the largest norms. */
    private final MemorySegment finders;

    private InnerProductLinks(
            BuildWork work, GraphImage image, GraphSearcher searcher, int efConstruction, BuildMemory memory) {
        this.work = work;
        this.image = image;
        this.searcher = searcher;
        this.degree = image.shape().degree();
        this.width = Math.max(degree, efConstruction / 2);
        long bytes = (long) image.shape().nodes() * degree * Integer.BYTES;
        this.near = memory.allocate(bytes);
        this.large = memory.allocate(bytes);
        this.finders = memory.allocate(bytes);
    }

    /** Number of nodes that all steps process in total. */
    static long steps(GraphImage image) {
        return (2 + 3L * PASSES) * image.shape().nodes();
    }

    /**
     * Adds the neighbors.
     *
     * @param efConstruction width of the searches that built the graph. Half of it suffices for the few nearest
     */
    static void add(BuildWork work, GraphImage image, GraphSearcher searcher, int efConstruction) {
        try (BuildMemory memory = new BuildMemory()) {
            new InnerProductLinks(work, image, searcher, efConstruction, memory).add();
        }
    }

    private void add() {
        int[] largestFirst = norms().largestFirst();
        onAll(node -> write(near, node, neighbors(node)));
        for (int pass = 0; pass < PASSES; pass++) {
            onAll(this::search);
            collectFinders(largestFirst);
            onAll(this::addFinders);
            // After all searches of the pass, because they read the lists that this writes.
            onAll(this::link);
        }
    }

    private RowNorms norms() {
        double[] squared = new double[image.shape().nodes()];
        onAll(node -> squared[node] = GraphSpace.squaredNorm(vector(node)));
        return new RowNorms(squared);
    }

    private float[] vector(int node) {
        float[] vector = new float[image.shape().dimension()];
        image.vector(node, vector);
        return vector;
    }

    /** In the calling thread, in the order of the norms: what few lists have is found by few searches, however large its products are. */
    private void collectFinders(int[] largestFirst) {
        int[] counts = new int[largestFirst.length];
        for (int node : largestFirst) {
            for (int found : list(large, node)) {
                if (counts[found] < degree) {
                    finders.setAtIndex(JAVA_INT, (long) found * degree + counts[found]++, node);
                }
            }
        }
        for (int node = 0; node < counts.length; node++) {
            if (counts[node] < degree) {
                finders.setAtIndex(JAVA_INT, (long) node * degree + counts[node], -1);
            }
        }
    }

    /** A product is as large from both sides. */
    private void addFinders(int node) {
        float[] vector = vector(node);
        int[] all = IntStream.concat(Arrays.stream(list(large, node)), Arrays.stream(list(finders, node)))
                .distinct()
                .mapToLong(other -> SearchScratch.entry(0f - Vectors.product(vector, vector(other)), other))
                .sorted()
                .mapToInt(entry -> (int) entry)
                .toArray();
        write(large, node, all);
    }

    private int[] list(MemorySegment lists, int node) {
        int[] list = new int[degree];
        MemorySegment.copy(lists, JAVA_INT, (long) node * degree * Integer.BYTES, list, 0, degree);
        int count = 0;
        while (count < degree && list[count] >= 0) {
            count++;
        }
        return Arrays.copyOf(list, count);
    }

    private void onAll(IntConsumer step) {
        work.forEach(image.shape().nodes(), RUN, step);
    }

    private void write(MemorySegment lists, int node, int[] nodes) {
        int count = Math.min(degree, nodes.length);
        long first = (long) node * degree;
        MemorySegment.copy(nodes, 0, lists, JAVA_INT, first * Integer.BYTES, count);
        if (count < degree) {
            lists.setAtIndex(JAVA_INT, first + count, -1);
        }
    }

    private int[] neighbors(int node) {
        int[] all = new int[degree];
        int count = 0;
        while (count < all.length && image.neighbor(0, node, count) >= 0) {
            all[count] = image.neighbor(0, node, count);
            count++;
        }
        return Arrays.copyOf(all, count);
    }

    private void search(int node) {
        SearchScratch scratch = SearchScratch.take();
        try {
            write(large, node, search(node, scratch.begin(image, width)));
        } finally {
            scratch.giveBack();
        }
    }

    private int[] search(int node, SearchScratch scratch) {
        scratch.setQuery(vector(node));
        searcher.search(image, scratch, width, width, NodeSet.ALL, work::yieldToSearches);
        int[] found = new int[scratch.size()];
        Arrays.setAll(found, scratch::node);
        return Arrays.stream(found).filter(other -> other != node).toArray();
    }

    /** Fills the list with both kinds; places that one kind leaves free go to the other. */
    private void link(int node) {
        int[] links = new int[degree];
        int count = add(links, 0, near, node, degree - (degree + PLACES_PER_LARGE - 1) / PLACES_PER_LARGE);
        count = add(links, count, large, node, degree);
        count = add(links, count, near, node, degree);
        image.setNeighbors(0, node, links, count);
    }

    /** Appends a node's list without the nodes that are in the links already, until there are {@code max}; returns the new number of links. */
    private int add(int[] links, int count, MemorySegment lists, int node, int max) {
        int size = count;
        for (int other : list(lists, node)) {
            if (size == max) {
                break;
            }
            boolean isNew = true;
            for (int j = 0; j < size; j++) {
                isNew &= links[j] != other;
            }
            if (isNew) {
                links[size++] = other;
            }
        }
        return size;
    }
}
