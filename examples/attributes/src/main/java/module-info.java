/** A program that uses only Roost's exported packages. A program on the class path needs no such file. */
module example.attributes {
    requires io.github.roost.index.hnsw;
    requires io.github.roost.rows;
}
