package io.github.roost.index.hnsw.search;

/** The destination of a query's values, from which a graph search or a scan reads them. */
@FunctionalInterface
public interface QueryValues {
    /** Writes the query: the first values of the array, as many as the image has dimensions. */
    void setQuery(float[] values);
}
