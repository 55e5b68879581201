package io.github.roost.simulator.options;

import io.github.roost.core.MappingId;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/**
 * A number that several benchmarks take: a mixin. Its name and its meaning stand here and are the same in all of them; its default and its range
 * are the benchmark's. Not thread-safe: set while a command line is parsed, and only read afterwards.
 */
@Command
public final class NumberOption {
    private final OptionSpec option;
    private final int min;
    private final int max;

    private NumberOption(String name, String meaning, int value, int min, int max) {
        this.option = OptionSpec.builder(name)
                .paramLabel("N")
                .type(int.class)
                .initialValue(value)
                .description(meaning + "; default ${DEFAULT-VALUE}.")
                .build();
        this.min = min;
        this.max = max;
        option.setValue(value);
    }

    /** {@code --rows} of each table, if they are drawn at random. */
    public static NumberOption rows(int value, int min, int max) {
        return new NumberOption("--rows", "Rows per table if they are drawn", value, min, max);
    }

    /** {@code --dimension} of rows and queries drawn at random. */
    public static NumberOption dimension(int value, int min, int max) {
        return new NumberOption("--dimension", "Dimension of drawn rows", value, min, max);
    }

    /** {@code --tables}, all alike. */
    public static NumberOption tables(int value) {
        return new NumberOption("--tables", "Number of tables", value, 1, 10_000);
    }

    /** {@code --table-kib}: the size of a table, in KiB. */
    public static NumberOption tableKib(int value) {
        return new NumberOption("--table-kib", "Size per table", value, 1, 1_000_000);
    }

    /** {@code --nlist} of IVF indexes; 0, the default, leaves the number to the benchmark. */
    public static NumberOption nlist() {
        String meaning = "Number of lists; 0: 256, for the mixture 1024, of bench rivals 4 sqrt(rows)";
        return new NumberOption("--nlist", meaning, 0, 0, MappingId.MAX_PER_ORCHESTRATOR);
    }

    /** {@code --k}: neighbors per search, by default 10. */
    public static NumberOption k(int max) {
        return new NumberOption("--k", "Neighbors per query", 10, 1, max);
    }

    /** {@code --ef} of searches for 10 neighbors. */
    public static NumberOption ef(int value, int max) {
        return new NumberOption("--ef", "ef of the searches for 10 rows", value, 10, max);
    }

    /** {@code --in-flight}: searches at the same time, in a closed loop. */
    public static NumberOption inFlight(int value, int max) {
        return new NumberOption("--in-flight", "Searches in flight", value, 1, max);
    }

    /** {@code --threads} that search. */
    public static NumberOption threads(int value, int max) {
        return new NumberOption("--threads", "Searching threads", value, 1, max);
    }

    /** {@code --rounds} in which the contenders take turns. */
    public static NumberOption rounds(int value, int max) {
        return new NumberOption("--rounds", "Measured rounds", value, 1, max);
    }

    /** {@code --seconds} of one measurement of a round. */
    public static NumberOption seconds(int value, int min, int max) {
        return new NumberOption("--seconds", "Time per measurement and round", value, min, max);
    }

    /** {@code --window-millis}: the length of a window in which latencies are measured. */
    public static NumberOption windowMillis(int value, int max) {
        return new NumberOption("--window-millis", "Length of a window", value, 1, max);
    }

    @Spec
    void addTo(CommandSpec mixin) {
        mixin.addOption(option);
    }

    /** Throws if one of the values is out of its range; the first one is named. */
    public static void check(NumberOption... options) {
        for (NumberOption each : options) {
            Options.require(each.option.longestName(), each.value(), each.min, each.max);
        }
    }

    /** Whether the command line has the option. */
    public boolean isGiven() {
        return !option.stringValues().isEmpty();
    }

    /** The value. */
    public int value() {
        return option.getValue();
    }
}
