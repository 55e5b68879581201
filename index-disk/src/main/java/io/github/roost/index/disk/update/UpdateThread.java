package io.github.roost.index.disk.update;

import java.util.Locale;

/** The thread that applies updates of a table to its graph: a benchmark compares them. */
public enum UpdateThread {
    /** On the orchestrator's workers, as maintenance: in stalls, in idle time, and for a small share of busy time. The default. */
    WORKERS,
    /** On a thread of the table's own, which the operating system schedules like the workers. */
    OWN,
    /**
     * On a thread of the table's own that the operating system runs only if no other thread wants to ({@code SCHED_IDLE} of Linux;
     * elsewhere as {@link #OWN}). It fills the stalls of workers that sleep in them, so the orchestrator's idle strategy should
     * not spin for long.
     */
    OWN_IDLE;

    /** The property with a constant's name in lower case, read when a table is opened or built. */
    private static final String PROPERTY = "roost.disk.updateThread";

    /** The thread that the property names. */
    static UpdateThread ofProperty() {
        String name = System.getProperty(PROPERTY);
        return name == null ? WORKERS : valueOf(name.toUpperCase(Locale.ROOT));
    }
}
