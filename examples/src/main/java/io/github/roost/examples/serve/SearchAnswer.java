package io.github.roost.examples.serve;

import java.util.List;

/**
 * The answer to a search, as its body has it.
 *
 * @param hits what was found, nearest first
 * @param ran where it was searched, one entry a table
 * @param micros time from submission to the merged result, in microseconds
 */
record SearchAnswer(List<Hit> hits, List<Ran> ran, long micros) {
    /**
     * A row that was found.
     *
     * @param table where it is
     * @param id its id
     * @param name what it is called
     * @param text what it is
     * @param distance squared Euclidean distance to the query
     */
    record Hit(String table, long id, String name, String text, float distance) {}

    /**
     * One table's part of a search.
     *
     * @param table which
     * @param worker index of the worker that searched it
     * @param domain the worker's cache domain
     */
    record Ran(String table, int worker, int domain) {}
}
