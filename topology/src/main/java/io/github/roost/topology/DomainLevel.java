package io.github.roost.topology;

/** The level of the machine's hierarchy whose objects become cache domains. */
public enum DomainLevel {
    L3,
    L2,
    NUMA,
    PACKAGE
}
