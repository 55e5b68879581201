/** A Lucene vector format whose graphs Roost searches. */
module io.github.roost.lucene {
    requires transitive org.apache.lucene.core;
    requires io.github.roost.core;
    requires io.github.roost.index.hnsw;

    exports io.github.roost.lucene;

    provides org.apache.lucene.codecs.KnnVectorsFormat with
            io.github.roost.lucene.RoostVectorsFormat;
}
