package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.io.BlockIo;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options for building a table on disk, which is built in its file. */
final class DiskBuildOptions implements IndexBuild {
    @Option(
            names = "--degree",
            defaultValue = "32",
            paramLabel = "N",
            description = "Neighbors per node; default ${DEFAULT-VALUE}.")
    private int degree;

    @Option(
            names = "--build-width",
            defaultValue = "100",
            paramLabel = "N",
            description = "Candidates per inserted vector; default ${DEFAULT-VALUE}.")
    private int buildWidth;

    @Option(
            names = "--code-bytes",
            defaultValue = "0",
            paramLabel = "N",
            description = "Bytes of memory per row's code; default 0: a quarter of the dimension, from 8 to 128.")
    private int codeBytes;

    @Override
    public void check() {
        Options.require("--degree", degree, 2, 256);
        Options.require("--build-width", buildWidth, 1, 10_000);
        Options.require("--code-bytes", codeBytes, 0, 4_096);
    }

    @Override
    public TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows) {
        throw new IllegalStateException("a table on disk needs its file");
    }

    @Override
    public Built build(Streams streams, Orchestrator orchestrator, Metric metric, NumberedRows rows, Path file)
            throws IOException, InterruptedException {
        if (metric == Metric.INNER_PRODUCT) {
            throw new CommandFailure("--metric must be squared_l2 or cosine for disk, got inner_product");
        }
        long began = System.nanoTime();
        try (BlockIo io = BlockIo.builder(orchestrator).build()) {
            TableBuild<DiskTable> build = DiskTable.builder()
                    .metric(metric)
                    .degree(degree)
                    .buildWidth(buildWidth)
                    .codeBytes(codeBytes)
                    .startReadOnly(orchestrator, io, "base", file, rows.ids(), rows.vectors());
            try (VectorTable table = TableBuilding.await(streams, build, rows.size())) {
                return Built.of(table, System.nanoTime() - began, 0);
            }
        } catch (UncheckedIOException failed) {
            throw failed.getCause();
        }
    }
}
