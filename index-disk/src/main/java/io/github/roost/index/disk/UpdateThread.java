package io.github.roost.index.disk;

/** The thread that applies updates of a table to its graph. */
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
    OWN_IDLE
}
