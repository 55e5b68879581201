package io.github.roost.core.task;

import java.util.concurrent.RejectedExecutionException;

/**
 * The orchestrator is closed: a submission was refused, or its time to drain ran out before a task was done. An executor of
 * the orchestrator refuses with it too.
 */
public final class OrchestratorClosedException extends RejectedExecutionException {
    private static final long serialVersionUID = 1;

    /** Fails a task that was not done when its orchestrator's time to close was over. */
    public OrchestratorClosedException() {
        super("the orchestrator was closed before the task was done");
    }

    /**
     * Refuses a submission: nothing of it runs.
     *
     * @param what was not accepted
     */
    public OrchestratorClosedException(String what) {
        super("the orchestrator is closed: " + what + " was not accepted");
    }
}
