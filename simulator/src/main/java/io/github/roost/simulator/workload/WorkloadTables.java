package io.github.roost.simulator.workload;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.testkit.packages.DebianPackages;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Builds the tables of a workload. Stateless. */
public final class WorkloadTables {
    private static final int EF_CONSTRUCTION = 100;

    private WorkloadTables() {}

    /**
     * The specs of the workload's tables, which are not built yet.
     *
     * @param packagesFolder folder of the Debian packages; read only if the workload uses them
     */
    public static List<TableSpec> specs(WorkloadSpec spec, Path packagesFolder) throws IOException {
        return switch (spec.data()) {
            case MIXTURE -> TableSpec.generated(spec);
            case PACKAGES -> TableSpec.ofPackages(spec, DebianPackages.read(packagesFolder));
        };
    }

    /** Builds an HNSW table. */
    public static HnswTable hnsw(Orchestrator orchestrator, TableSpec table, float[][] rows) {
        return HnswTable.builder()
                .name(table.name())
                .efConstruction(EF_CONSTRUCTION)
                .build(orchestrator, rows);
    }

    /** Builds an IVF table. */
    public static IvfTable ivf(Orchestrator orchestrator, WorkloadSpec spec, TableSpec table, float[][] rows) {
        return IvfTable.builder()
                .name(table.name())
                .nlist(Math.max(1, rows.length / spec.rowsPerList()))
                .nprobe(spec.nprobe())
                .seed(table.seed())
                .build(orchestrator, rows);
    }

    /** The ef of searches of an HNSW table. */
    public static int ef(WorkloadSpec spec, TableSpec table) {
        return ef(spec, table.k());
    }

    /** The ef of searches of an HNSW table that want k neighbors. */
    public static int ef(WorkloadSpec spec, int k) {
        return (int) Math.clamp(Math.round(k * spec.efPerK()), k, 100_000L);
    }
}
