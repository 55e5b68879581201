package io.github.roost.index.disk.update;

import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** A set of nodes that grows by a chunk and is searched by a chunk, so that no call takes longer in a large table. Not thread-safe. */
final class NodeSet {
    /** Nodes per chunk. */
    static final int CHUNK = 1 << 16;

    private @Nullable BitSet[] chunks = new BitSet[0];

    private @Nullable BitSet chunk(int node) {
        return node / CHUNK < chunks.length ? chunks[node / CHUNK] : null;
    }

    boolean get(int node) {
        BitSet chunk = chunk(node);
        return chunk != null && chunk.get(node % CHUNK);
    }

    void set(int node) {
        BitSet chunk = chunk(node);
        if (chunk == null) {
            int index = node / CHUNK;
            if (index >= chunks.length) {
                chunks = Arrays.copyOf(chunks, index + 1 + index / 4);
            }
            chunk = new BitSet(CHUNK);
            chunks[index] = chunk;
        }
        chunk.set(node % CHUNK);
    }

    /** The first node from one on that is not in the set; the first one of the next chunk, whether it is or not, if this chunk has no such node. */
    int nextClear(int node) {
        BitSet chunk = chunk(node);
        return chunk == null ? node : node - node % CHUNK + chunk.nextClearBit(node % CHUNK);
    }
}
