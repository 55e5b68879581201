package io.github.roost.index.remote;

/** Thrown to a waiter when its partition was rebuilt meanwhile; it must ask again by the new directory. */
final class SupersededException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    SupersededException(String region) {
        super(region, "rebuilt a partition");
    }
}
