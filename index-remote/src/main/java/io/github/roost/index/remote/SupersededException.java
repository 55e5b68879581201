package io.github.roost.index.remote;

/** A partition was built anew while somebody waited for the bytes of the build before: to be asked for again. */
final class SupersededException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    SupersededException(String region) {
        super(region, "has built a partition anew");
    }
}
