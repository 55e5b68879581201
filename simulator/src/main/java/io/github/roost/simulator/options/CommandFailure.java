package io.github.roost.simulator.options;

/** Ends a command with one line for the user. */
public final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** @param message the problem: the value and the expectation */
    public CommandFailure(String message) {
        super(message);
    }
}
