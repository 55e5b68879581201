package io.github.roost.core.placement;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("io.github.roost.Remap")
@Label("Remap")
@Category("Roost")
@Description("The mapper published a new mapping")
@StackTrace(false)
final class RemapEvent extends Event {
    @Label("Epoch")
    long epoch;

    @Label("Moved Bytes")
    @Description("Traffic of the window whose home changed")
    @DataAmount
    long movedBytes;

    @Label("Imbalance Before")
    @Description("Largest domain load over the mean")
    double imbalanceBefore;

    @Label("Imbalance After")
    double imbalanceAfter;

    void describe(long newEpoch, long moved, double before, double after) {
        this.epoch = newEpoch;
        this.movedBytes = moved;
        this.imbalanceBefore = before;
        this.imbalanceAfter = after;
    }
}
