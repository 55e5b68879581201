package io.github.roost.bench.rivals;

import io.github.roost.simulator.options.Options;
import picocli.CommandLine.Option;

/** Which of the texts that a model embeds are used, and what is asked of them. */
public final class TextOptions {
    @Option(names = "--texts", paramLabel = "N", description = "Texts of minilm; default ${DEFAULT-VALUE}.")
    private int count;

    /** What minilm is searched for. */
    enum Queries {
        in,
        out
    }

    @Option(
            names = "--queries",
            paramLabel = "in|out",
            description = "Of minilm: sentences as the rows are, or words; default ${DEFAULT-VALUE}.")
    private Queries queries = Queries.in;

    /**
     * Creates the options.
     *
     * @param count default number of texts; more than some thousands take minutes to embed on two cores
     */
    public TextOptions(int count) {
        this.count = count;
    }

    /** Throws if a value is out of range. */
    public void check() {
        Options.require("--texts", count, 10, 1_000_000);
    }

    /** The number of texts. */
    public int count() {
        return count;
    }

    /** Whether the queries are words, which are not distributed as the rows are: these are sentences. */
    public boolean areQueriesWords() {
        return queries == Queries.out;
    }
}
