package io.github.roost.simulator.options;

import java.util.Locale;

/** Checks and names values of options. Stateless. */
public final class Options {
    private Options() {}

    /** Throws unless the value of an option is within its range. */
    public static void require(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new CommandFailure(option + " must be "
                    + (max == Integer.MAX_VALUE ? "at least " + min : "between " + min + " and " + max) + ", got "
                    + value);
        }
    }

    /** The name of a constant as on the command line: in lower case. */
    public static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
