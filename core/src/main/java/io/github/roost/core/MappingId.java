package io.github.roost.core;

/**
 * The unit that has a home: a graph or one of its regions, a list of an IVF table, a partition of a remote table. Obtained from
 * a {@link Registration}. Two ids are equal if they have the same registration (by identity) and index. Immutable.
 */
public final class MappingId {
    /** The largest number of mapping ids that all tables of an orchestrator may have together. */
    public static final int MAX_PER_ORCHESTRATOR = 131_072;

    private final Registration registration;
    private final int index;

    MappingId(Registration registration, int index) {
        this.registration = registration;
        this.index = index;
    }

    /** {@return the table that this id belongs to} */
    public Registration registration() {
        return registration;
    }

    /** {@return the index of this id in its table, from 0} */
    public int index() {
        return index;
    }

    /**
     * {@return the index of this id in the dense arrays of mappings and monitors; reused after the table is
     * unregistered}
     */
    public int slot() {
        return registration.firstSlot() + index;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof MappingId that && that.registration == registration && that.index == index;
    }

    @Override
    public int hashCode() {
        return 31 * System.identityHashCode(registration) + index;
    }

    @Override
    public String toString() {
        return registration.size() == 1 ? registration.name() : registration.name() + "/" + index;
    }
}
