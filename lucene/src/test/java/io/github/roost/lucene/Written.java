package io.github.roost.lucene;

import org.apache.lucene.codecs.Codec;

/** What is written of the vectors of every segment, however small it is. */
enum Written {
    /** A graph. */
    GRAPH(1),
    /** Codes without a graph. */
    CODES(Integer.MAX_VALUE);

    private final int minForGraph;

    Written(int minForGraph) {
        this.minForGraph = minForGraph;
    }

    RoostVectorsFormat format(GraphBuilds builds) {
        return new RoostVectorsFormat(16, 100, new MinSizes(1, minForGraph, minForGraph), builds);
    }

    Codec codec() {
        return new RoostCodec(format(GraphBuilds.IN_CALLER));
    }
}
