package io.github.roost.index.hnsw.walk;

/** Where the values of a query are written for a walk or a scan to read. */
@FunctionalInterface
public interface QueryValues {
    /** Writes value {@code i} of the query. */
    void setQuery(int i, float value);
}
