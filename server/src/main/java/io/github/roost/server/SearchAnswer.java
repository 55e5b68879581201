package io.github.roost.server;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.roost.vector.SearchCost;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The body of a search's answer.
 *
 * @param hits the rows found, nearest first
 * @param ran where it was searched, one entry per table; null, and left out, if not requested
 * @param micros time from submission to the merged result, in microseconds
 */
record SearchAnswer(
        List<Hit> hits,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<Ran> ran,
        long micros) {
    /**
     * A row that was found.
     *
     * @param table its table
     * @param id its id
     * @param key the text that is its id in the file it comes from; null, and left out, if that is a number
     * @param name its name
     * @param text its text
     * @param distance to the query, by the metric of its table
     */
    record Hit(
            String table,
            long id,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String key,

            String name,
            String text,
            float distance) {}

    /**
     * Where a table was searched, and the cost.
     *
     * @param table its name
     * @param worker the worker that ran the search; null, and left out, if several shared it
     * @param domain that worker's cache domain; null, and left out, if there is no such worker
     * @param visited vectors, or codes of vectors, compared with the query
     * @param expanded graph nodes whose neighbors were read, or lists scanned
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Ran(
            String table,
            @Nullable Integer worker,
            @Nullable Integer domain,
            long visited,
            long expanded) {
        static Ran by(int worker, int domain, String table, SearchCost cost) {
            return new Ran(table, worker, domain, cost.visited(), cost.expanded());
        }

        static Ran byWhoever(String table, SearchCost cost) {
            return new Ran(table, null, null, cost.visited(), cost.expanded());
        }
    }
}
