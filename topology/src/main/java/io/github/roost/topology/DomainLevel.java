package io.github.roost.topology;

/** The level of the machine's hierarchy whose objects become cache domains. */
public enum DomainLevel {
    /** The cores under one third-level cache: AMD's CCX or CCD. */
    L3,
    /** The cores under one second-level cache. */
    L2,
    /** The cores of one NUMA node. */
    NUMA,
    /** The cores of one package (socket). */
    PACKAGE
}
