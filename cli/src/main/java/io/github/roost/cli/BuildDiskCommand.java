package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code roost build disk}. */
@Command(
        name = "disk",
        aliases = "--on-disk",
        description = "Builds a table on disk. The id of a row is its number in the file, from 0.")
final class BuildDiskCommand implements Callable<Integer> {
    @ParentCommand
    private @SuppressWarnings("NullAway.Init") BuildCommand parent;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final BuildOptions options = new BuildOptions();

    @Option(
            names = "--degree",
            defaultValue = "32",
            paramLabel = "N",
            description = "Neighbours per node; default ${DEFAULT-VALUE}.")
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
    public Integer call() throws IOException {
        SearchOptions.requireBetween("--degree", degree, 2, 256);
        SearchOptions.requireBetween("--build-width", buildWidth, 1, 10_000);
        SearchOptions.requireBetween("--code-bytes", codeBytes, 0, 4_096);
        return options.runDirect(parent.streams(), this::build);
    }

    private TableStats build(Orchestrator orchestrator, Metric metric, VectorSource source, Path file)
            throws IOException {
        if (metric == Metric.INNER_PRODUCT) {
            throw new CommandFailure("--metric must be squared_l2 or cosine for disk, got inner_product");
        }
        try (BlockIo io = BlockIo.builder(orchestrator).build()) {
            TableBuild<DiskTable> build = DiskTable.builder()
                    .metric(metric)
                    .degree(degree)
                    .buildWidth(buildWidth)
                    .codeBytes(codeBytes)
                    .startReadOnly(orchestrator, io, "base", file, SearchOptions.ids(source), source);
            try (VectorTable table = TableBuilding.await(parent.streams(), build, source.size())) {
                return table.stats();
            }
        } catch (UncheckedIOException failed) {
            throw failed.getCause();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the build of " + file + " was interrupted");
        }
    }
}
