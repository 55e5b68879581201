package io.github.roost.bench.table;

import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of the benchmarks of batches of values, which take their turns in rounds of a number of keys. */
final class StoreOptions {
    private static final int MAX_BATCH = 10_000;

    final @Mixin NumberOption rows = NumberOption.rows(200_000, 1, 10_000_000);

    @Option(names = "--keys", paramLabel = "N", split = ",", description = "Keys per batch; default 10,100,500.")
    private List<Integer> keys = List.of(10, 100, 500);

    final @Mixin NumberOption rounds = NumberOption.rounds(7, 10_000);

    /** Throws if a value is out of range. */
    void check() {
        keys.forEach(batch -> Options.require("--keys", batch, 1, MAX_BATCH));
        NumberOption.check(rows, rounds);
    }

    /** The keys per batch, ascending. */
    List<Integer> batches() {
        return keys.stream().sorted().toList();
    }
}
