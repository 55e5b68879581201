package io.github.roost.simulator.orchestration;

import io.github.roost.simulator.Traces;
import java.util.List;

/**
 * A scale of the simulations: tables that nearly fit a machine's caches, or tables of the paper's size.
 *
 * @param name {@code small} or {@code paper}
 * @param hnsw reads of the searches of its HNSW tables
 * @param ivf reads of the searches of its IVF tables
 */
public record Regime(String name, Traces hnsw, Traces ivf) {
    /** Names of all regimes. */
    public static final List<String> NAMES = List.of("small", "paper");

    /** The indexes that a machine serves. */
    public enum Kind {
        /** HNSW tables. */
        HNSW,
        /** IVF tables. */
        IVF,
        /** Both; their searches read equal bytes per second. */
        MIXED
    }

    /** The traces of a kind. */
    public Traces of(Kind kind) {
        return switch (kind) {
            case HNSW -> hnsw;
            case IVF -> ivf;
            case MIXED -> Traces.mixed(hnsw, ivf);
        };
    }
}
