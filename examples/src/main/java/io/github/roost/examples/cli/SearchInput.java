package io.github.roost.examples.cli;

import io.github.roost.bench.FloatVectors;
import io.github.roost.bench.OrdinalRows;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What {@code search} works on, read and checked against each other.
 *
 * @param base the vectors to search among
 * @param queries of the base's dimension
 * @param truth k true ordinals a query, or null
 */
record SearchInput(float[][] base, float[][] queries, int @Nullable [][] truth) {
    static SearchInput read(SearchOptions options) throws IOException {
        float[][] queries = FloatVectors.read(options.query);
        float[][] base = FloatVectors.read(options.base);
        if (base[0].length != queries[0].length) {
            throw new CommandFailure("--query must have the dimension of --base: " + options.query + " has "
                    + queries[0].length + ", " + options.base + " has " + base[0].length);
        }
        if (options.k > base.length) {
            throw new CommandFailure(
                    "--k must be between 1 and the base's size of " + base.length + ", got " + options.k);
        }
        int[][] truth = options.truth == null
                ? null
                : OrdinalRows.readTruth(options.truth, queries.length, options.k, base.length);
        return new SearchInput(base, queries, truth);
    }
}
