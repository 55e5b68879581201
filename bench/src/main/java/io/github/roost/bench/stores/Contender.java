package io.github.roost.bench.stores;

import java.nio.file.Path;

/** The compared stores. */
enum Contender {
    ROOST,
    LUCENE,
    H2_SCAN,
    LANGCHAIN4J;

    /** Opens a store, or creates it. */
    TextStore open(Path folder) throws Exception {
        return switch (this) {
            case ROOST -> new RoostStore(folder);
            case LUCENE -> new LuceneStore(folder);
            case H2_SCAN -> new H2Store(folder);
            case LANGCHAIN4J -> new InMemoryStore(folder);
        };
    }
}
