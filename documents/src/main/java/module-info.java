/** An embedded, durable store of documents with vectors. */
module io.github.roost.documents {
    requires transitive io.github.roost.vector;
    requires io.github.roost.index.hnsw;
    requires com.h2database.mvstore;
    requires roaringbitmap;
    requires org.slf4j;

    exports io.github.roost.documents;
    exports io.github.roost.documents.file to
            com.h2database.mvstore;
}
