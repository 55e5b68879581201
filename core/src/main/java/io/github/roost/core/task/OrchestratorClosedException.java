package io.github.roost.core.task;

/** The orchestrator was closed, and its time to drain ran out, before the task was done. */
public final class OrchestratorClosedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Fails a task that was not done when its orchestrator's time to close was over. */
    public OrchestratorClosedException() {
        super("the orchestrator was closed before the task was done");
    }
}
