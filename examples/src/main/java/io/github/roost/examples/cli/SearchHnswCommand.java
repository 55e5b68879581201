package io.github.roost.examples.cli;

import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code roost search hnsw}. */
@Command(
        name = "hnsw",
        description =
                "Searches an HNSW table. The queries run once unmeasured, for at most two seconds, then once measured.")
final class SearchHnswCommand implements Callable<Integer>, IndexPlan {
    private static final int LEAST_DEFAULT_EF = 100;
    private static final int WIDEST = 100_000;

    @ParentCommand
    private @SuppressWarnings("NullAway.Init") SearchCommand parent;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final SearchOptions options = new SearchOptions();

    @Option(
            names = "--m",
            defaultValue = "16",
            paramLabel = "M",
            description = "Links a node in the upper layers; default ${DEFAULT-VALUE}.")
    private int m;

    @Option(
            names = "--ef-construction",
            defaultValue = "200",
            paramLabel = "N",
            description = "Candidates looked at for each inserted vector; default ${DEFAULT-VALUE}.")
    private int efConstruction;

    @Option(
            names = "--ef",
            paramLabel = "N",
            description = "Candidates a search keeps, raised to K where it is less; default the larger of 100 and 2 K.")
    private @Nullable Integer askedEf;

    private int ef;
    private int widest;

    @Override
    public Integer call() throws IOException, InterruptedException {
        return new SearchRun(options, this, parent.streams()).run();
    }

    @Override
    public void check() {
        SearchOptions.requireBetween("--m", m, 2, 256);
        SearchOptions.requireBetween("--ef-construction", efConstruction, 1, 10_000);
        if (askedEf != null) {
            SearchOptions.requireBetween("--ef", askedEf, 1, WIDEST);
        }
    }

    @Override
    public void fit(int baseSize, int k) {
        long wanted = askedEf == null ? Math.max(LEAST_DEFAULT_EF, 2L * k) : Math.max(askedEf, k);
        widest = Math.min(baseSize, WIDEST);
        ef = (int) Math.min(wanted, widest);
    }

    @Override
    public int tasksPerQuery() {
        return 1;
    }

    @Override
    public SearchableIndex build(Orchestrator orchestrator, float[][] base) {
        HnswTable table = HnswTable.builder()
                .name("base")
                .m(m)
                .efConstruction(efConstruction)
                .build(orchestrator, base);
        return new SearchableIndex() {
            @Override
            public CompletableFuture<Neighbors> search(float[] query, int k, int width) {
                return table.search(query, k, width);
            }

            @Override
            public int width() {
                return ef;
            }

            @Override
            public int widest() {
                return widest;
            }

            @Override
            public void close() {
                table.close();
            }
        };
    }
}
