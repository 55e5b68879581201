package io.github.roost.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.core.Orchestrator;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.server.input.VectorInput;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost build} of one kind of index. */
@Command(description = "Builds and saves a table. The id of a row is its number in the file, from 0.")
final class BuildTableCommand implements Callable<Integer> {
    private final Streams streams;

    @Option(
            names = "--base",
            required = true,
            paramLabel = "FILE",
            description = "The vectors: " + VectorInput.FORMATS + ", recognized by the file's extension.")
    @SuppressWarnings("NullAway.Init")
    private Path base;

    @Option(names = "--out", required = true, paramLabel = "TABLE", description = "File to save the table to.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Option(
            names = "--metric",
            paramLabel = "M",
            description = "squared_l2, inner_product or cosine; default the metric of an hdf5 file, else squared_l2.")
    private @Nullable Metric metric;

    @Mixin
    private final SkipZeroOption zeros = new SkipZeroOption();

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Mixin
    private final IndexBuild index;

    BuildTableCommand(Streams streams, IndexBuild index) {
        this.streams = streams;
        this.index = index;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        index.check();
        OutputFile.requireOther("--out", out, "--base", base);
        try (OutputFile file = OutputFile.prepareTable("--out", out);
                VectorInput input = VectorInput.rows(base);
                Orchestrator orchestrator = Orchestrator.builder().build()) {
            Metric measure = metric == null ? VectorInput.metric(base) : metric;
            NumberedRows rows = zeros.rows(base, input.vectors(), measure, streams);
            Built[] built = new Built[1];
            file.write(draft -> built[0] = index.build(streams, orchestrator, measure, rows, draft));
            streams.out().println(json ? new ObjectMapper().writeValueAsString(built[0]) : built[0].text(out));
        }
        return 0;
    }
}
