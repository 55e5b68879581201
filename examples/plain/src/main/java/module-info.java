/** A program that uses only Roost's exported packages. */
module consumer.plain {
    requires io.github.roost.index.hnsw;
    requires io.github.roost.index.ivf;
    requires io.github.roost.rows;
}
