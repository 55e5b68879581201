package io.github.roost.documents;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/** Work on files that an interrupt of its thread does not end: it is repeated, and the interrupt kept for the caller. Stateless. */
final class Uninterrupted {
    private Uninterrupted() {}

    /** Work that reads or writes a file whole, and so can be repeated. */
    @FunctionalInterface
    interface FileWork<T> {
        T call() throws IOException;
    }

    static <T> T call(FileWork<T> work) throws IOException {
        boolean wasInterrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return work.call();
                } catch (ClosedByInterruptException interrupted) {
                    wasInterrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
