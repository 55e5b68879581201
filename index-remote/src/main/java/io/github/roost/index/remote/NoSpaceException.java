package io.github.roost.index.remote;

/** The pool has no space for a pair that was built anew: its spare space is used up, or held by readers. */
final class NoSpaceException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    NoSpaceException(String region, String what) {
        super(region, what);
    }
}
