/** A program that uses only Roost's exported packages. A program on the class path needs no such file. */
module example.quickstart {
    requires io.github.roost.index.hnsw;
}
