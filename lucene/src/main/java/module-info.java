/** Roost for Lucene: a vector format with graphs searched by Roost, segments searched at home, and queries answered by Roost tables. */
module io.github.roost.lucene {
    requires transitive org.apache.lucene.core;
    requires transitive io.github.roost.core;
    requires transitive io.github.roost.vector;
    requires transitive io.github.roost.index.hnsw;
    requires org.slf4j;

    exports io.github.roost.lucene;

    provides org.apache.lucene.codecs.KnnVectorsFormat with
            io.github.roost.lucene.RoostVectorsFormat;
}
