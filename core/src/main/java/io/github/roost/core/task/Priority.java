package io.github.roost.core.task;

/** Which of two queued tasks a worker takes first. */
public enum Priority {
    /** Someone waits for the answer. The default. */
    INTERACTIVE,
    /** Builds, compactions, bulk work: runs after interactive tasks, but is never starved by them. */
    BATCH
}
