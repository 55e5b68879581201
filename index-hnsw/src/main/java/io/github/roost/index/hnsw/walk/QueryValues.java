package io.github.roost.index.hnsw.walk;

/** The destination of a query's values, from which a graph search or a scan reads them. */
@FunctionalInterface
public interface QueryValues {
    /** Writes value {@code i} of the query. */
    void setQuery(int i, float value);
}
