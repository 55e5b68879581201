package io.github.roost.bench.stores;

import java.nio.file.Path;

/** The compared stores. */
enum Contender {
    ROOST,
    LUCENE,
    H2_SCAN,
    SQLITE_SCAN,
    LANGCHAIN4J,
    SPRING_AI;

    /** Opens a store, or creates it. */
    TextStore open(Path folder) throws Exception {
        return switch (this) {
            case ROOST -> new RoostStore(folder);
            case LUCENE -> new LuceneStore(folder);
            case H2_SCAN -> ScannedTable.ofH2(folder);
            case SQLITE_SCAN -> ScannedTable.ofSqlite(folder);
            case LANGCHAIN4J -> new InMemoryStore(folder);
            case SPRING_AI -> new SimpleStore(folder);
        };
    }
}
