package io.github.roost.examples.serve;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.roost.core.vector.SearchCost;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a search, as its body has it.
 *
 * @param hits what was found, nearest first
 * @param ran where it was searched, one entry per table; null, and left out, where nobody asked
 * @param micros time from submission to the merged result, in microseconds
 */
record SearchAnswer(
        List<Hit> hits,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<Ran> ran,
        long micros) {
    /**
     * A row that was found.
     *
     * @param table where it is
     * @param id its id
     * @param name what it is called
     * @param text what it is
     * @param distance to the query, by the metric of its table
     */
    record Hit(String table, long id, String name, String text, float distance) {}

    /**
     * Where a table was searched, and what that cost.
     *
     * @param table its name
     * @param worker who ran the search; null, and left out, where several shared it
     * @param domain that worker's cache domain; null, and left out, where there is no such worker
     * @param visited vectors, or codes of vectors, compared with the query
     * @param expanded graph nodes whose neighbours were read, or lists that were scanned
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
