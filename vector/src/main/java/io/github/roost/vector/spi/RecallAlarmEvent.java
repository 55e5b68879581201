package io.github.roost.vector.spi;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("io.github.roost.RecallAlarm")
@Label("Recall Alarm")
@Category("Roost")
@StackTrace(false)
final class RecallAlarmEvent extends Event {
    @Label("Table")
    String table = "";

    @Label("Recall")
    double recall;

    @Label("Upper End of its 95 % Confidence Interval")
    double high;

    @Label("Level")
    double level;
}
