package io.github.roost.bench.orchestration;

import io.github.roost.bench.sim.Traces;
import java.util.List;

/**
 * One size of everything: tables that nearly fit the caches of a machine, or tables of the paper's size.
 *
 * @param name {@code small} or {@code paper}
 * @param hnsw what searches of its HNSW tables read
 * @param ivf what searches of its IVF tables read
 */
public record Regime(String name, Traces hnsw, Traces ivf) {
    /** Names of all regimes. */
    public static final List<String> NAMES = List.of("small", "paper");

    /** Which indexes a machine serves. */
    public enum Kind {
        /** HNSW tables. */
        HNSW,
        /** IVF tables. */
        IVF,
        /** Both, whose searches read as many bytes per second. */
        MIXED
    }

    /** What searches read. */
    public Traces of(Kind kind) {
        return switch (kind) {
            case HNSW -> hnsw;
            case IVF -> ivf;
            case MIXED -> Traces.mixed(hnsw, ivf);
        };
    }
}
