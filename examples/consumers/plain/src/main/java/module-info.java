/** A program that knows Roost's exported packages and nothing else. */
module consumer.plain {
    requires io.github.roost.index.hnsw;
    requires io.github.roost.index.ivf;
    requires io.github.roost.table;
}
