package io.github.roost.index.disk;

import static io.github.roost.index.disk.DiskLayout.CENTROIDS;
import static io.github.roost.index.disk.DiskLayout.FLOAT;
import static io.github.roost.index.disk.DiskLayout.LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What a table keeps in memory, outside the heap: the external id of each node and a code of its vector, by product quantisation
 * (Jégou et al., IEEE TPAMI 33(1), 2011). A search makes a table of its query once, and a distance to a node is then one
 * addition per byte of its code. Thread-safe: never written once it is made.
 */
record Codes(DiskLayout layout, MemorySegment memory) {
    long id(int node) {
        return memory.get(LONG, layout.idOffset(node));
    }

    /** Squared distances of the parts of a query to all centroids of these parts. */
    void distances(float[] query, float[] into) {
        for (int part = 0; part < layout.codeBytes(); part++) {
            int begin = layout.partBegin(part);
            int end = layout.partBegin(part + 1);
            for (int centroid = 0; centroid < CENTROIDS; centroid++) {
                float sum = 0;
                for (int i = begin; i < end; i++) {
                    float difference = query[i] - memory.get(FLOAT, layout.centroidOffset(centroid, i));
                    sum += difference * difference;
                }
                into[part * CENTROIDS + centroid] = sum;
            }
        }
    }

    /** Squared distance of a query to a node's code, of what {@link #distances} has made. */
    float distance(float[] distances, int node) {
        long at = layout.codeOffset(node);
        float sum = 0;
        for (int part = 0; part < layout.codeBytes(); part++) {
            sum += distances[part * CENTROIDS + (memory.get(ValueLayout.JAVA_BYTE, at + part) & 0xff)];
        }
        return sum;
    }
}
