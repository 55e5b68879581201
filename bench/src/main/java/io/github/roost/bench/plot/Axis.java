package io.github.roost.bench.plot;

/**
 * One axis of a plot.
 *
 * @param label what it shows, with its unit
 * @param scale how values lie on it
 */
public record Axis(String label, Scale scale) {
    /** How values lie on an axis. */
    public enum Scale {
        /** Evenly, from zero. */
        FROM_ZERO,
        /** Evenly, from the least value. */
        LINEAR,
        /** By their logarithms. */
        LOGARITHMIC,
        /** Shares below one, by the logarithm of what is missing to one. */
        MISSING
    }

    /** An axis from zero. */
    public static Axis fromZero(String label) {
        return new Axis(label, Scale.FROM_ZERO);
    }

    /** An axis from the least value. */
    public static Axis linear(String label) {
        return new Axis(label, Scale.LINEAR);
    }

    /** A logarithmic axis. */
    public static Axis logarithmic(String label) {
        return new Axis(label, Scale.LOGARITHMIC);
    }

    /** An axis of recall: from .9 to .99 is as far as from .99 to .999. */
    public static Axis missing(String label) {
        return new Axis(label, Scale.MISSING);
    }
}
