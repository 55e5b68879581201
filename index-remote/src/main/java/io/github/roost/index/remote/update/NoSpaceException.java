package io.github.roost.index.remote.update;

import io.github.roost.index.remote.RemoteMemoryException;

/** Thrown when the pool has no space for a rebuilt pair: its spare space is used up, or held by readers. */
public final class NoSpaceException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    NoSpaceException(String region, String what) {
        super(region, what);
    }
}
