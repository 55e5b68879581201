package io.github.roost.examples.cli;

import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.IvfTable;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code roost search ivf}. */
@Command(
        name = "ivf",
        description =
                "Searches an IVF table. The queries run once unmeasured, for at most two seconds, then once measured.")
final class SearchIvfCommand implements Callable<Integer>, IndexPlan {
    private static final int LEAST_DEFAULT_NPROBE = 8;
    private static final int DEFAULT_SHARE = 8;
    private static final int MOST_LISTS = 131_072;

    @ParentCommand
    private @SuppressWarnings("NullAway.Init") SearchCommand parent;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final SearchOptions options = new SearchOptions();

    @Option(
            names = "--nlist",
            paramLabel = "N",
            description = "Lists, at most the base's size; default the square root of that.")
    private @Nullable Integer askedNlist;

    @Option(
            names = "--nprobe",
            paramLabel = "N",
            description =
                    "Lists that a search looks at, more where they hold fewer than K vectors; default an eighth of"
                            + " all, at least 8.")
    private @Nullable Integer askedNprobe;

    private int nlist;
    private int nprobe;

    @Override
    public Integer call() throws IOException, InterruptedException {
        return new SearchRun(options, this, parent.streams()).run();
    }

    @Override
    public void check() {
        if (askedNlist != null) {
            SearchOptions.requireBetween("--nlist", askedNlist, 1, MOST_LISTS);
        }
        if (askedNprobe != null) {
            SearchOptions.requireBetween("--nprobe", askedNprobe, 1, MOST_LISTS);
        }
        if (askedNlist != null && askedNprobe != null && askedNprobe > askedNlist) {
            throw new CommandFailure("--nprobe must be at most --nlist " + askedNlist + ", got " + askedNprobe);
        }
    }

    @Override
    public void fit(int baseSize, int k) {
        if (askedNlist != null && askedNlist > baseSize) {
            throw new CommandFailure("--nlist must be at most the base's size of " + baseSize + ", got " + askedNlist);
        }
        nlist = askedNlist == null ? (int) Math.round(Math.sqrt(baseSize)) : askedNlist;
        if (askedNprobe != null && askedNprobe > nlist) {
            throw new CommandFailure("--nprobe must be at most --nlist " + nlist + ", got " + askedNprobe);
        }
        nprobe = askedNprobe == null
                ? Math.min(nlist, Math.max(LEAST_DEFAULT_NPROBE, nlist / DEFAULT_SHARE))
                : askedNprobe;
    }

    @Override
    public int tasksPerQuery() {
        return nprobe;
    }

    @Override
    public SearchableIndex build(Orchestrator orchestrator, float[][] base) {
        IvfTable table =
                IvfTable.builder().name("base").nlist(nlist).nprobe(nprobe).build(orchestrator, base);
        return new SearchableIndex() {
            @Override
            public CompletableFuture<Neighbors> search(float[] query, int k, int width) {
                return table.search(query, k, width);
            }

            @Override
            public int width() {
                return nprobe;
            }

            @Override
            public int widest() {
                return nlist;
            }

            @Override
            public void close() {
                table.close();
            }
        };
    }
}
