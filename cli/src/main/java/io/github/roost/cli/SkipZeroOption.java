package io.github.roost.cli;

import io.github.roost.server.input.NumberedRows;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Whether rows of zeros are left out of a table of cosines, or refused. */
final class SkipZeroOption {
    @Option(
            names = "--skip-zero",
            description = "Leave out rows of zeros, which have no cosine; without it cosine refuses them.")
    private boolean skip;

    /** The rows of a file for a table of a metric; tells on standard error which rows are left out. */
    NumberedRows rows(Path file, VectorSource vectors, Metric metric, Streams streams) throws IOException {
        return NumberedRows.of(file, vectors, metric, zeros -> {
            if (!skip) {
                throw new CommandFailure(zeros + "; --skip-zero leaves them out");
            }
            streams.err().println("roost: " + zeros + "; left out");
        });
    }
}
