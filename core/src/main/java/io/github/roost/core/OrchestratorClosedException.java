package io.github.roost.core;

import java.util.concurrent.RejectedExecutionException;

/**
 * Thrown when the orchestrator is closed: it refused a submission, or its drain timeout ended before a task was done. Executors
 * of the orchestrator also throw it when they refuse a task.
 */
public final class OrchestratorClosedException extends RejectedExecutionException {
    private static final long serialVersionUID = 1;

    /** For a task that was not done when the orchestrator's drain timeout ended. */
    public OrchestratorClosedException() {
        super("the orchestrator was closed before the task was done");
    }

    /**
     * For a refused submission; no part of it runs.
     *
     * @param what the submission that was not accepted, for the message
     */
    public OrchestratorClosedException(String what) {
        super("the orchestrator is closed: " + what + " was not accepted");
    }

    /**
     * For a task of an orchestrator that is broken.
     *
     * @param broken the error that has broken it
     */
    public OrchestratorClosedException(Throwable broken) {
        super("the orchestrator is broken by an error that is not of a search: it fails all its searches", broken);
    }

    /**
     * For a submission to an orchestrator that is broken; no part of it runs.
     *
     * @param what the submission that was not accepted, for the message
     * @param broken the error that has broken it
     */
    public OrchestratorClosedException(String what, Throwable broken) {
        super("the orchestrator is broken by an error that is not of a search: " + what + " was not accepted", broken);
    }
}
