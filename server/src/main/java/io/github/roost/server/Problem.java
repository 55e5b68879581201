package io.github.roost.server;

/** An error response: its status and one sentence for the client. */
final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;

    Problem(int status, String sentence) {
        super(sentence, null, false, false);
        this.status = status;
    }

    int status() {
        return status;
    }

    String sentence() {
        return String.valueOf(getMessage());
    }
}
