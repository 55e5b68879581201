package io.github.roost.core.task;

/**
 * The unit that has a home: a graph or one of its regions, a list of an IVF table, a partition of a remote table. Obtained from
 * a {@link Registration}. Two ids are equal if they have the same registration (by identity) and cluster. Immutable.
 */
public final class MappingId {
    private final Registration registration;
    private final int cluster;

    MappingId(Registration registration, int cluster) {
        this.registration = registration;
        this.cluster = cluster;
    }

    /** {@return the table that this id belongs to} */
    public Registration registration() {
        return registration;
    }

    /** {@return the index of the cluster in its table, from 0; 0 for a table without clusters} */
    public int cluster() {
        return cluster;
    }

    /**
     * {@return the index of this id in the dense arrays of mappings and monitors; reused after the table is
     * unregistered}
     */
    public int slot() {
        return registration.firstSlot() + cluster;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof MappingId that && that.registration == registration && that.cluster == cluster;
    }

    @Override
    public int hashCode() {
        return 31 * System.identityHashCode(registration) + cluster;
    }

    @Override
    public String toString() {
        return registration.clusters() == 1 ? registration.name() : registration.name() + "/" + cluster;
    }
}
