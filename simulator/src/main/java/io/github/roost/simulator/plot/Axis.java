package io.github.roost.simulator.plot;

/**
 * One axis of a plot.
 *
 * @param label quantity and unit
 * @param scale of the values
 */
public record Axis(String label, Scale scale) {
    /** The scale of an axis. */
    public enum Scale {
        /** Linear, from zero. */
        FROM_ZERO,
        /** Linear, from the min value. */
        LINEAR,
        /** Logarithmic. */
        LOGARITHMIC,
        /** For shares below 1: logarithmic in 1 minus the share. */
        MISSING
    }

    /** A linear axis from zero. */
    public static Axis fromZero(String label) {
        return new Axis(label, Scale.FROM_ZERO);
    }

    /** A linear axis from the min value. */
    public static Axis linear(String label) {
        return new Axis(label, Scale.LINEAR);
    }

    /** A logarithmic axis. */
    public static Axis logarithmic(String label) {
        return new Axis(label, Scale.LOGARITHMIC);
    }

    /** An axis of recall: the distance from .9 to .99 is the same as from .99 to .999. */
    public static Axis missing(String label) {
        return new Axis(label, Scale.MISSING);
    }
}
