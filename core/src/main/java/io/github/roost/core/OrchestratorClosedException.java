package io.github.roost.core;

/** The orchestrator was closed, and its time to drain ran out, before the task was done. */
public final class OrchestratorClosedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public OrchestratorClosedException() {
        super("the orchestrator was closed before the task was done");
    }
}
