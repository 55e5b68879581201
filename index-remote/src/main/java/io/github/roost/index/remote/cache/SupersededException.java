package io.github.roost.index.remote.cache;

import io.github.roost.index.remote.RemoteMemoryException;

/** Thrown to a waiter when its partition was rebuilt meanwhile; it must ask again by the new directory. */
public final class SupersededException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    SupersededException(String region) {
        super(region, "rebuilt a partition");
    }
}
