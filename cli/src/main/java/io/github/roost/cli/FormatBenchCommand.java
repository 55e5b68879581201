package io.github.roost.cli;

import io.github.roost.bench.lucene.FormatBench;
import io.github.roost.bench.lucene.FormatBench.Contender;
import io.github.roost.bench.lucene.FormatBench.Outcome;
import io.github.roost.simulator.measure.Samples;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench lucene-formats}: Roost's vector format compared with Lucene's own. */
@Command(
        name = "lucene-formats",
        description =
                "Roost's vector format for Lucene, compared with Lucene's own: searches per second at equal recall, and indexing.")
final class FormatBenchCommand implements Callable<Integer> {
    /** Lucene logs its vector instructions. Strong reference, since an unreferenced logger loses its level. */
    private static final Logger LUCENE_LOG = Logger.getLogger("org.apache.lucene");

    private static final int QUERIES = 1_000;

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final VectorDataOptions data = new VectorDataOptions(VectorDataOptions.Data.mixture);

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

    @Option(
            names = "--keep",
            paramLabel = "FOLDER",
            description = {
                "Keeps the indexes in this folder for later runs: writing them takes most of the time. The folder is created",
                "if it does not exist, and never deleted."
            })
    private @Nullable Path kept;

    @Option(names = "--threads", paramLabel = "N", description = "Concurrent searching threads; default 2.")
    private int threads = 2;

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default 5.")
    private int rounds = 5;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per format and round; default 500.")
    private int sliceMillis = 500;

    FormatBenchCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        data.check();
        BenchCommand.require("--segments", segments, 1, 1_000);
        BenchCommand.require("--threads", threads, 1, 4_096);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        LUCENE_LOG.setLevel(Level.WARNING);
        VectorDataOptions.Vectors vectors = data.read(QUERIES);
        try (FormatBench bench =
                new FormatBench(vectors.rows(), vectors.queries(), segments, merge, contenders, kept)) {
            print(bench, vectors);
        }
        return 0;
    }

    private void print(FormatBench bench, VectorDataOptions.Vectors vectors) throws Exception {
        streams.out()
                .println("%s, %,d x %d in %d segments, %d threads, %d rounds"
                        .formatted(
                                vectors.name(),
                                vectors.rows().length,
                                vectors.rows()[0].length,
                                bench.segments(contenders.getFirst()),
                                threads,
                                rounds));
        Contender lucene = contenders.contains(Contender.LUCENE_HNSW) ? Contender.LUCENE_HNSW : contenders.getLast();
        for (Contender contender : contenders) {
            double seconds = bench.secondsToWrite(contender);
            streams.out()
                    .println("indexing  %-14s %7.1f s, %.2f times %s"
                            .formatted(name(contender), seconds, seconds / bench.secondsToWrite(lucene), name(lucene)));
        }
        for (double recall : recalls) {
            List<Outcome> outcomes = bench.measure(recall, threads, rounds, Duration.ofMillis(sliceMillis));
            for (Outcome outcome : outcomes) {
                streams.out()
                        .println("at %.2f   %-14s %28s searches/s, effort %3d, recall %.3f, %s times %s"
                                .formatted(
                                        recall,
                                        name(outcome.contender()),
                                        spread("%,.0f", Samples.of(outcome.perSecond())),
                                        outcome.effort(),
                                        outcome.recall(),
                                        spread("%.2f", outcome.times(reference(outcomes))),
                                        name(reference(outcomes).contender())));
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

    private static String spread(String figure, Samples samples) {
        return (figure + " (" + figure + " to " + figure + ")")
                .formatted(samples.median(), samples.least(), samples.most());
    }

    private static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
