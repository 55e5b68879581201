package io.github.roost.bench.lucene;

import io.github.roost.bench.lucene.FormatContenders.Contender;
import io.github.roost.bench.lucene.FormatContenders.Outcome;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.DataOption;
import io.github.roost.simulator.options.KeepOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.Output;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.simulator.options.VectorDataOptions;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench lucene-formats}: Roost's vector format compared with Lucene's own. */
@Command(
        name = "lucene-formats",
        description =
                "Roost's vector format for Lucene, compared with Lucene's own: searches per second at equal recall,"
                        + " and indexing.")
public final class LuceneFormatsBench implements Callable<Integer> {
    /** Lucene logs its vector instructions. Strong reference, since an unreferenced logger loses its level. */
    private static final Logger LUCENE_LOG = Logger.getLogger("org.apache.lucene");

    private static final int QUERIES = 1_000;

    private final @Mixin VectorDataOptions data = new VectorDataOptions(DataOption.Data.mixture);

    @Option(
            names = "--format",
            paramLabel = "roost|lucene_hnsw|roost_reader|lucene_int8|lucene_binary",
            split = ",",
            description = "Formats; default all.")
    private List<Contender> contenders = List.of(Contender.values());

    @Option(
            names = "--recall",
            paramLabel = "R",
            split = ",",
            description = "Targets of recall@10; default .90,.95,.98.")
    private List<Double> recalls = List.of(.90, .95, .98);

    @Option(names = "--segments", paramLabel = "N", description = "Segments written; default 8.")
    private int segments = 8;

    @Option(names = "--merge", description = "Merges the segments into one.")
    private boolean merge;

    private final @Mixin KeepOption keep = new KeepOption();
    private final @Mixin NumberOption threads = NumberOption.threads(2, 4_096);
    private final @Mixin RoundOptions rounds = new RoundOptions(5, 500);
    private final @Mixin Output output = new Output();

    @Override
    public Integer call() throws Exception {
        data.check();
        Options.require("--segments", segments, 1, 1_000);
        NumberOption.check(threads);
        rounds.check();
        LUCENE_LOG.setLevel(Level.WARNING);
        VectorDataOptions.Vectors vectors = data.read(QUERIES);
        try (FormatContenders bench =
                new FormatContenders(vectors.rows(), vectors.queries(), segments, merge, contenders, keep.folder())) {
            print(bench, vectors);
        }
        return 0;
    }

    private void print(FormatContenders bench, VectorDataOptions.Vectors vectors) throws Exception {
        output.format(
                "%s, %,d x %d in %d segments, %d threads, %d rounds",
                vectors.name(),
                vectors.rows().length,
                vectors.rows()[0].length,
                bench.segments(contenders.getFirst()),
                threads.value(),
                rounds.count());
        Contender lucene = contenders.contains(Contender.LUCENE_HNSW) ? Contender.LUCENE_HNSW : contenders.getLast();
        for (Contender contender : contenders) {
            double seconds = bench.secondsToWrite(contender);
            output.format(
                    "indexing  %-14s %7.1f s, %.2f times %s",
                    Options.name(contender), seconds, seconds / bench.secondsToWrite(lucene), Options.name(lucene));
        }
        for (double recall : recalls) {
            List<Outcome> outcomes = bench.measure(recall, threads.value(), rounds.count(), rounds.slice());
            for (Outcome outcome : outcomes) {
                output.format(
                        "at %.2f   %-14s %28s searches/s, effort %3d, recall %.3f, %s times %s",
                        recall,
                        Options.name(outcome.contender()),
                        Samples.of(outcome.perSecond()).spread("%,.0f"),
                        outcome.effort(),
                        outcome.recall(),
                        outcome.times(reference(outcomes)).spread("%.2f"),
                        Options.name(reference(outcomes).contender()));
            }
        }
    }

    /** Lucene's float graph, the reference for the others; if it does not take part, the last outcome. */
    private static Outcome reference(List<Outcome> outcomes) {
        return outcomes.stream()
                .filter(outcome -> outcome.contender() == Contender.LUCENE_HNSW)
                .findAny()
                .orElse(outcomes.getLast());
    }
}
