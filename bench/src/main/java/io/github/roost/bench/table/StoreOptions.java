package io.github.roost.bench.table;

import io.github.roost.simulator.options.Options;
import java.util.List;
import picocli.CommandLine.Option;

/** The options of the benchmarks of batches of values, which take their turns in rounds of a number of keys. */
final class StoreOptions {
    private static final int MAX_ROWS = 10_000_000;
    private static final int MAX_BATCH = 10_000;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of each store; default 200000.")
    private int rows = 200_000;

    @Option(names = "--keys", paramLabel = "N", split = ",", description = "Keys per batch; default 10,100,500.")
    private List<Integer> keys = List.of(10, 100, 500);

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all stores; default 7.")
    private int rounds = 7;

    /** Throws if a value is out of range. */
    void check(int minRows) {
        Options.require("--rows", rows, minRows, MAX_ROWS);
        keys.forEach(batch -> Options.require("--keys", batch, 1, MAX_BATCH));
        Options.require("--rounds", rounds, 1, 10_000);
    }

    int rows() {
        return rows;
    }

    /** The keys per batch, ascending. */
    List<Integer> batches() {
        return keys.stream().sorted().toList();
    }

    int rounds() {
        return rounds;
    }
}
