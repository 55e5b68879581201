package io.github.roost.lucene;

import org.apache.lucene.codecs.Codec;

/** What is written of the vectors of every segment, however small it is. */
enum Written {
    /** A graph. */
    GRAPH(1, 1),
    /** Codes without a graph. */
    CODES(1, Integer.MAX_VALUE);

    private final int minForCodes;
    private final int minForGraph;

    Written(int minForCodes, int minForGraph) {
        this.minForCodes = minForCodes;
        this.minForGraph = minForGraph;
    }

    RoostVectorsFormat format(GraphBuilds builds) {
        return new RoostVectorsFormat(16, 100, minForCodes, minForGraph, builds);
    }

    Codec codec() {
        return new RoostCodec(format(GraphBuilds.IN_CALLER));
    }
}
