package io.github.roost.core;

/** The priority of a task: determines which of two queued tasks a worker takes first. */
public enum Priority {
    /** For searches that a caller waits for. The default. */
    INTERACTIVE,
    /** For builds, compactions and bulk work: runs after interactive tasks, but is never starved by them. */
    BATCH
}
