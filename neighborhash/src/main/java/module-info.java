/** A hash map with long keys, off the heap, with a native batch lookup. */
module io.github.roost.neighborhash {
    requires io.github.roost.vector;
    requires static transitive org.jspecify;

    exports io.github.roost.neighborhash;
}
