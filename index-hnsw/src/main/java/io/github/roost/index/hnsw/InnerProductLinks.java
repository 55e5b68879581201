package io.github.roost.index.hnsw;

import io.github.roost.core.indexing.BuildWork;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.GraphWalk;
import io.github.roost.index.hnsw.walk.NodeSet;
import io.github.roost.index.hnsw.walk.WalkScratch;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * Adds a second kind of neighbours to an inner-product graph: the nodes with the largest product with each node. A node that has a
 * large product with a query also has one with rows in the query's direction. So a search that has reached such a row is one
 * step from the node, although the node is far away (after Liu et al., "Understanding and Improving Proximity
 * Graph Based Maximum Inner Product Search", AAAI 2020, which keeps two graphs). Used once, before the image is searched.
 */
final class InnerProductLinks {
    /** Nodes per step of batch work. */
    private static final int RUN = 16;
    /** The second pass finds better neighbours by searching with the links of the first. */
    private static final int PASSES = 2;

    private final BuildWork work;
    private final GraphImage image;
    private final GraphWalk walk;
    private final int width;
    /** Each node's neighbours by distance, nearest first as the build left them. */
    private final int[][] near;
    /** Each node's neighbours by inner product, largest first. */
    private final int[][] large;

    InnerProductLinks(BuildWork work, GraphImage image, GraphWalk walk, int width) {
        this.work = work;
        this.image = image;
        this.walk = walk;
        this.width = width;
        this.near = new int[image.shape().nodes()][];
        this.large = new int[near.length][];
    }

    void add() {
        onAll(node -> near[node] = neighbors(node));
        for (int pass = 0; pass < PASSES; pass++) {
            onAll(this::search);
            // After all searches of the pass, because they read the lists that this writes.
            onAll(this::link);
        }
    }

    private void onAll(IntConsumer step) {
        work.forEach(near.length, RUN, step);
    }

    private int[] neighbors(int node) {
        int[] all = new int[image.shape().degree()];
        int count = 0;
        while (count < all.length && image.neighbor(0, node, count) >= 0) {
            all[count] = image.neighbor(0, node, count);
            count++;
        }
        return Arrays.copyOf(all, count);
    }

    private void search(int node) {
        WalkScratch scratch = WalkScratch.take();
        try {
            large[node] = search(node, scratch.begin(image, width));
        } finally {
            scratch.giveBack();
        }
    }

    private int[] search(int node, WalkScratch scratch) {
        for (int i = 0; i < image.shape().dimension(); i++) {
            scratch.setQuery(i, image.value(node, i));
        }
        walk.walk(image, scratch, width, width, NodeSet.ALL, work::yieldToSearches);
        int[] found = new int[scratch.size()];
        Arrays.setAll(found, scratch::node);
        return Arrays.stream(found).filter(other -> other != node).toArray();
    }

    /** Fills half of the list with each kind; places that one kind leaves free go to the other. */
    private void link(int node) {
        int degree = image.shape().degree();
        int[] links = new int[degree];
        int count = add(links, 0, near[node], degree / 2);
        count = add(links, count, large[node], degree);
        count = add(links, count, near[node], degree);
        image.setNeighbors(0, node, links, count);
    }

    /** Appends nodes that are not yet in the links until there are {@code max}; returns the new number of links. */
    private static int add(int[] links, int count, int[] nodes, int max) {
        int size = count;
        for (int i = 0; i < nodes.length && size < max; i++) {
            boolean isNew = true;
            for (int j = 0; j < size; j++) {
                isNew &= links[j] != nodes[i];
            }
            if (isNew) {
                links[size++] = nodes[i];
            }
        }
        return size;
    }
}
