package io.github.roost.bench.cachesim;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.workload.QueryStream;
import io.github.roost.simulator.workload.TableSpec;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.simulator.workload.WorkloadSpec.Popularity;
import io.github.roost.vector.VectorTable;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tables with their queries, and the searches in the order of their submission, in a folder: made by this JVM at full speed, read by a guest. The
 * most popular table has {@value #SPAN} times the searches of the least popular one.
 *
 * @param folder that holds them
 * @param count of the tables
 */
record SavedTables(Path folder, int count) {
    static final int DIMENSION = 128;
    static final int K = 10;
    static final int EF = 100;
    private static final int SPAN = 100;
    private static final int QUERIES = 200;
    private static final int ROWS_PER_CENTER = 200;
    private static final int ROWS_PER_LIST = 125;
    private static final int NPROBE = 8;
    private static final String STREAM = "stream";

    /** The type of the tables. */
    enum Index {
        HNSW,
        IVF,
        /** Each in turn. */
        BOTH;

        boolean isIvf(int table) {
            return this == IVF || (this == BOTH && table % 2 == 1);
        }
    }

    /** A search: the number of its table and of its query. */
    record Search(int table, int query) {}

    /** Builds tables of {@code rows} rows each. */
    static SavedTables build(Path folder, Index index, int count, int rows) throws IOException {
        SavedTables saved = new SavedTables(folder, count);
        try (Orchestrator orchestrator = Orchestrator.builder().recallShare(0).build()) {
            for (int table = 0; table < count; table++) {
                TableSpec.Vectors made = TableSpec.embeddings(rows, DIMENSION, QUERIES, ROWS_PER_CENTER, table);
                boolean isIvf = index.isIvf(table);
                try (VectorTable built = isIvf ? ivf(orchestrator, made.rows()) : hnsw(orchestrator, made.rows())) {
                    built.save(saved.file(table, isIvf));
                }
                saved.writeQueries(table, made.targets());
            }
        }
        return saved;
    }

    private static VectorTable hnsw(Orchestrator orchestrator, float[][] rows) {
        return HnswTable.builder().build(orchestrator, rows);
    }

    private static VectorTable ivf(Orchestrator orchestrator, float[][] rows) {
        return IvfTable.builder()
                .nlist(Math.max(1, rows.length / ROWS_PER_LIST))
                .nprobe(Math.min(NPROBE, Math.max(1, rows.length / ROWS_PER_LIST)))
                .build(orchestrator, rows);
    }

    Path file(int table, boolean isIvf) {
        return folder.resolve("table-" + table + (isIvf ? ".ivf" : ".hnsw"));
    }

    /** The size of all tables. */
    long bytes() throws IOException {
        long sum = 0;
        for (int table = 0; table < count; table++) {
            sum += Files.size(file(table, isIvf(table)));
        }
        return sum;
    }

    boolean isIvf(int table) {
        return Files.exists(file(table, true));
    }

    private void writeQueries(int table, float[][] queries) throws IOException {
        try (DataOutputStream out = output("queries-" + table)) {
            for (float[] query : queries) {
                for (float value : query) {
                    out.writeFloat(value);
                }
            }
        }
    }

    float[][] queries(int table) throws IOException {
        float[][] queries = new float[QUERIES][DIMENSION];
        try (DataInputStream in = input("queries-" + table)) {
            for (float[] query : queries) {
                for (int at = 0; at < DIMENSION; at++) {
                    query[at] = in.readFloat();
                }
            }
        }
        return queries;
    }

    /**
     * Draws the searches.
     *
     * @param driftEvery searches after which a hot and a cold table swap their popularity; 0: never
     */
    void drawSearches(int searches, int driftEvery) throws IOException {
        QueryStream stream = new QueryStream(spec(driftEvery), count);
        try (DataOutputStream out = output(STREAM)) {
            for (int number = 0; number < searches; number++) {
                stream.next();
                out.writeInt(stream.table());
                out.writeInt(stream.target());
            }
        }
    }

    /** The workload of the searches. */
    WorkloadSpec spec(int driftEvery) throws IOException {
        return WorkloadSpec.load("hnsw")
                .withTables(count)
                .withRecorded(1, QUERIES)
                .withQuerySkew(0)
                .withTableSkew(SPAN, Popularity.ZIPF)
                .withDrift(driftEvery, 1);
    }

    Search[] searches(int number) throws IOException {
        Search[] searches = new Search[number];
        try (DataInputStream in = input(STREAM)) {
            for (int at = 0; at < number; at++) {
                searches[at] = new Search(in.readInt(), in.readInt());
            }
        }
        return searches;
    }

    private DataOutputStream output(String name) throws IOException {
        return new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(folder.resolve(name))));
    }

    private DataInputStream input(String name) throws IOException {
        return new DataInputStream(new BufferedInputStream(Files.newInputStream(folder.resolve(name))));
    }
}
