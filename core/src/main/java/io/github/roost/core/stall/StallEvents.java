package io.github.roost.core.stall;

import jdk.jfr.Category;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** JFR events of a worker's stalls; disabled by default, since there are about ten thousand per second. */
final class StallEvents {
    private StallEvents() {}

    @Name("io.github.roost.Stall")
    @Label("Stall")
    @Category("Roost")
    @StackTrace(false)
    @Enabled(false)
    static final class StallEvent extends Event {
        @Label("Reads Under Way")
        int readsUnderWay;

        @Label("Length")
        @Timespan(Timespan.NANOSECONDS)
        long length;

        @Label("Filled")
        @Timespan(Timespan.NANOSECONDS)
        long filled;

        @Label("Overrun")
        @Timespan(Timespan.NANOSECONDS)
        long overrun;

        @Label("Until the Next Stall")
        @Timespan(Timespan.NANOSECONDS)
        long computed;

        @Label("Left Empty")
        boolean isEmpty;
    }

    @Name("io.github.roost.StallStep")
    @Label("Step of Maintenance in a Stall")
    @Category("Roost")
    @StackTrace(false)
    @Enabled(false)
    static final class StepEvent extends Event {
        @Label("Allowed")
        @Timespan(Timespan.NANOSECONDS)
        long allowed;

        @Label("Took")
        @Timespan(Timespan.NANOSECONDS)
        long took;
    }
}
