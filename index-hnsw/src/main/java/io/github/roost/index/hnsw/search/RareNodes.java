package io.github.roost.index.hnsw.search;

import io.github.roost.vector.Vectors;

/**
 * Lets nodes that hardly any list of layer 0 has be in more lists. Where some rows are near very many others, the heuristic drops
 * most links to the rest, and leaves nodes that no search can come to. Such a node gets into the lists of its own neighbors, nearest first: into a
 * free place, or into that of the farthest neighbor that many lists have; if there is none, between its nearest neighbor and
 * that one's farthest. Used once, by one thread.
 */
final class RareNodes {
    /** Nodes in fewer lists are rare. */
    private static final int RARE = 4;
    /** Nodes in more lists can be dropped from one. */
    private static final int COMMON = 16;

    private final GraphInsertion graph;
    private final GraphImage image;
    /** Per node the number of lists that it is in. */
    private final int[] lists;

    RareNodes(GraphInsertion graph) {
        this.graph = graph;
        this.image = graph.image;
        this.lists = new int[image.shape().nodes()];
    }

    void link(Runnable betweenNodes) {
        for (int node = 0; node < lists.length; node++) {
            betweenNodes.run();
            for (int i = 0; i < count(node); i++) {
                lists[image.neighbor(0, node, i)]++;
            }
        }
        // Node 0 is where searches begin.
        for (int node = 1; node < lists.length; node++) {
            betweenNodes.run();
            if (lists[node] < RARE) {
                link(node);
            }
        }
    }

    private int count(int node) {
        int count = 0;
        while (count < graph.links && image.neighbor(0, node, count) >= 0) {
            count++;
        }
        return count;
    }

    private void link(int node) {
        int count = count(node);
        int[] neighbors = new int[image.degree(0)];
        graph.neighbors(0, node, neighbors);
        for (int i = 0; i < count && lists[node] < RARE; i++) {
            linkFrom(neighbors[i], node);
        }
        if (count > 0 && lists[node] == 0) {
            linkBetween(neighbors[0], node);
        }
    }

    /** Puts a node that no list has between its nearest neighbor, whose list is full, and that one's farthest: what could be reached still can. */
    private void linkBetween(int from, int node) {
        int far = farthest(from);
        int beyond = image.neighbor(0, from, far);
        graph.setLink(0, from, far, node, length(node, from));
        lists[node]++;
        int count = count(node);
        int place = count < graph.links ? count : farthest(node);
        if (place < count) {
            lists[image.neighbor(0, node, place)]--;
        }
        graph.setLink(0, node, place, beyond, Vectors.squaredDistance(vector(node), vector(beyond)));
    }

    private int farthest(int node) {
        int far = 0;
        for (int i = 1; i < count(node); i++) {
            far = graph.length(0, node, i) > graph.length(0, node, far) ? i : far;
        }
        return far;
    }

    private float[] vector(int node) {
        float[] vector = new float[image.shape().dimension()];
        graph.vector(node, vector, vector.length);
        return vector;
    }

    private void linkFrom(int from, int node) {
        int count = count(from);
        int place = count < graph.links ? count : -1;
        for (int i = 0; i < count; i++) {
            int other = image.neighbor(0, from, i);
            if (other == node) {
                return;
            }
            if (count == graph.links
                    && lists[other] > COMMON
                    && (place < 0 || graph.length(0, from, i) > graph.length(0, from, place))) {
                place = i;
            }
        }
        if (place >= 0) {
            if (place < count) {
                lists[image.neighbor(0, from, place)]--;
            }
            lists[node]++;
            graph.setLink(0, from, place, node, length(node, from));
        }
    }

    private float length(int node, int neighbor) {
        int i = 0;
        while (image.neighbor(0, node, i) != neighbor) {
            i++;
        }
        return graph.length(0, node, i);
    }
}
