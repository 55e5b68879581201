package io.github.roost.cli.demo;

import io.github.roost.cli.JobProgress;
import io.github.roost.cli.Streams;
import io.github.roost.cli.demo.DemoReport.Build;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.testkit.packages.DebianPackages.Section;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The demo's tables: one HNSW table per section, and one IVF table of all packages; ids are ordinals of all packages. Thread-safe once built. */
final class DemoTables {
    private static final int M = 16;
    private static final int EF_CONSTRUCTION = 200;
    private static final int MIN_EF = 64;
    /** ef per table when all tables are searched: together they visit far more nodes than one search needs, so each may visit fewer. */
    private static final int MIN_MERGED_EF = 24;

    private static final int EF_PER_NEIGHBOR = 4;
    private static final int PROBED_SHARE = 5;

    private final List<HnswTable> sections = new ArrayList<>();
    private final Orchestrator orchestrator;
    private final IvfTable all;
    private final int nprobe;
    private final Build build;

    private DemoTables(Orchestrator orchestrator, DebianPackages data, double loadSeconds, Streams streams) {
        this.orchestrator = orchestrator;
        long began = System.nanoTime();
        try (JobProgress progress = new JobProgress(
                streams,
                "building HNSW tables of " + data.sections().size() + " sections",
                data.packages().size())) {
            for (Section section : data.sections()) {
                sections.add(buildSection(orchestrator, data, section));
                progress.steps(section.rows().length);
            }
        }
        double hnswSeconds = secondsSince(began);
        began = System.nanoTime();
        int nlist = (int) Math.round(Math.sqrt(data.packages().size()));
        this.nprobe = Math.max(1, nlist / PROBED_SHARE);
        try (JobProgress progress = new JobProgress(
                streams, "building the IVF table", data.packages().size())) {
            this.all = IvfTable.builder()
                    .name("all packages (IVF)")
                    .nlist(nlist)
                    .nprobe(nprobe)
                    .build(orchestrator, data.vectors());
            progress.steps(data.packages().size());
        }
        this.build = new Build(
                data.packages().size(),
                DebianPackages.DIMENSION,
                loadSeconds,
                sections.size(),
                hnswSeconds,
                nlist,
                secondsSince(began));
    }

    /** Builds all tables and prints progress. */
    static DemoTables build(Orchestrator orchestrator, DebianPackages data, double loadSeconds, Streams streams) {
        return new DemoTables(orchestrator, data, loadSeconds, streams);
    }

    private static HnswTable buildSection(Orchestrator orchestrator, DebianPackages data, Section section) {
        return HnswTable.builder()
                .name(section.name())
                .m(M)
                .efConstruction(EF_CONSTRUCTION)
                .build(
                        orchestrator,
                        Arrays.stream(section.rows()).asLongStream().toArray(),
                        data.vectorsOf(section));
    }

    private static double secondsSince(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    /** The size and the build times of the tables. */
    Build build() {
        return build;
    }

    List<HnswTable> sections() {
        return sections;
    }

    IvfTable all() {
        return all;
    }

    /** Searches one section's table. */
    CompletableFuture<SearchResult> searchSection(int table, float[] query, int k) {
        return sections.get(table).search(query, k, ef(k));
    }

    /** Searches all sections' tables and merges the answers. */
    CompletableFuture<SearchResult> searchSections(float[] query, int k) {
        SearchRequest request = SearchRequest.of(query, k).effort(Math.max(MIN_MERGED_EF, k));
        return orchestrator.fanOut(
                sections.stream().map(table -> table.part(request)).toList(),
                results -> SearchResult.merge(results, k));
    }

    /** Searches the IVF table. */
    CompletableFuture<SearchResult> searchAll(float[] query, int k) {
        return all.search(query, k, nprobe);
    }

    /** A search of the IVF table in one slice, on the worker that runs it. */
    SearchFunction<float[], SearchResult> allHere(int k) {
        return all.searchFunction(k, nprobe);
    }

    private static int ef(int k) {
        return Math.max(MIN_EF, EF_PER_NEIGHBOR * k);
    }
}
