package io.github.roost.index.disk;

/** Where updates of a table are done in its graph. */
public enum UpdateThread {
    /** On the orchestrator's workers, as maintenance: in stalls, in idle time, and for a small share of busy time. The default. */
    WORKERS,
    /** On a thread of the table's own, which the operating system schedules beside the workers like any other. */
    OWN,
    /**
     * On a thread of the table's own that the operating system runs only where no other thread wants to ({@code SCHED_IDLE} of Linux;
     * elsewhere it is as {@link #OWN}). It fills the stalls of workers that sleep in them: the orchestrator's idle strategy should not
     * look long.
     */
    OWN_IDLE
}
