package io.github.roost.cli;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.service.Registry;
import io.github.roost.rows.service.RowsClient;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code roost table-service fetch}: rows of some keys, all of one version, or of any versions. */
@Command(name = "fetch", description = "Prints the rows of keys, all of one version unless --any is given.")
final class TableFetchCommand implements Callable<Integer> {
    private final Streams streams;

    @Mixin
    private final RegistryOptions registry = new RegistryOptions();

    @Parameters(arity = "1..*", paramLabel = "KEY")
    @SuppressWarnings("NullAway.Init")
    private List<Long> keys;

    @Option(names = "--deadline", paramLabel = "MILLIS", description = "Default 5000.")
    private int deadline = 5_000;

    @Option(names = "--any", description = "Accept rows of different versions; prints the version of each.")
    private boolean any;

    @Option(names = "--trusted", paramLabel = "FILE", description = "PEM file of trusted CA certificates.")
    private @Nullable Path trusted;

    TableFetchCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() {
        Options.require("--deadline", deadline, 1, 3_600_000);
        long[] wanted = keys.stream().mapToLong(Long::longValue).toArray();
        try (Registry connected = registry.connect();
                RowsClient client = new RowsClient(connected, trusted, registry.tokens())) {
            Duration within = Duration.ofMillis(deadline);
            RowsClient.FetchedRows rows = any
                    ? client.fetchAny(registry.table(), wanted, within).join()
                    : client.fetch(registry.table(), wanted, within).join();
            if (!any) {
                streams.out().println("version " + rows.version());
            }
            for (int i = 0; i < wanted.length; i++) {
                streams.out()
                        .println(wanted[i] + (any ? " of version " + rows.version(i) : "") + " "
                                + (rows.isPresent(i) ? row(rows.batch(i), rows.row(i)) : "is not there"));
            }
        } catch (CompletionException e) {
            if (e.getCause() instanceof TimeoutException late) {
                throw new CommandFailure(String.valueOf(late.getMessage()));
            }
            if (e.getCause() instanceof StatusRuntimeException refused) {
                throw new CommandFailure(
                        "a server refuses: " + refused.getStatus().getDescription());
            }
            throw e;
        }
        return 0;
    }

    private static String row(RowBatch batch, int row) {
        StringBuilder line = new StringBuilder();
        List<Column> columns = batch.schema().columns();
        for (int i = 0; i < columns.size(); i++) {
            line.append(i == 0 ? "" : ", ").append(columns.get(i).name()).append('=');
            line.append(value(batch, row, i, columns.get(i)));
        }
        return line.toString();
    }

    private static String value(RowBatch batch, int row, int column, Column of) {
        return switch (of.type()) {
            case INT -> Integer.toString(batch.getInt(row, column));
            case LONG -> Long.toString(batch.getLong(row, column));
            case FLOAT -> Float.toString(batch.getFloat(row, column));
            case DOUBLE -> Double.toString(batch.getDouble(row, column));
            case TEXT -> batch.getText(row, column);
            case FIXED_BYTES, BYTES -> batch.getBytes(row, column).byteSize() + " bytes";
        };
    }
}
