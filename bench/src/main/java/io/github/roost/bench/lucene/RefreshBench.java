package io.github.roost.bench.lucene;

import io.github.roost.bench.lucene.RefreshLoad.Contender;
import io.github.roost.bench.lucene.RefreshLoad.Refreshed;
import io.github.roost.bench.rivals.RealData;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.Output;
import io.github.roost.testkit.Mixture;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.HdrHistogram.Histogram;
import org.apache.lucene.util.VectorUtil;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench refresh}: how long a refresh waits for Roost's vector format and for Lucene's, and what indexing takes. */
@Command(
        name = "refresh",
        description = "Documents added to an index that is refreshed every second and searched meanwhile: refreshes in"
                + " Roost's vector format and in Lucene's, and the time to index all.")
public final class RefreshBench implements Callable<Integer> {
    /** Lucene logs its vector instructions. Strong reference, since an unreferenced logger loses its level. */
    private static final Logger LUCENE_LOG = Logger.getLogger("org.apache.lucene");

    private static final String MIXTURE = "mixture";
    private static final int DIMENSION = 384;
    private static final int ROWS_PER_CENTER = 50;
    private static final int QUERIES = 1_000;
    /** Enough for graphs, merges and searches to be compiled. */
    private static final int WARM_UP = 24_000;

    @Option(
            names = "--data",
            paramLabel = "minilm|mixture|FILE",
            description = "Embedded texts, a mixture of Gaussians, or a file of vectors; default ${DEFAULT-VALUE}.")
    private String data = "minilm";

    @Option(
            names = "--documents",
            paramLabel = "N",
            split = ",",
            description = "Numbers of documents; default 12,000 and 100,000.")
    private List<Integer> documents = List.of(12_000, 100_000);

    @Option(
            names = "--per-second",
            paramLabel = "N",
            split = ",",
            description = "Documents added per second; default 100 and 2,000.")
    private List<Integer> rates = List.of(100, 2_000);

    private final @Mixin NumberOption seconds = NumberOption.seconds(30, 1, 3_600);
    private final @Mixin NumberOption rounds = NumberOption.rounds(3, 1_000);
    private final @Mixin Output output = new Output();

    @Override
    public Integer call() throws Exception {
        documents.forEach(count -> Options.require("--documents", count, 1, 10_000_000));
        rates.forEach(rate -> Options.require("--per-second", rate, 1, 1_000_000));
        NumberOption.check(seconds, rounds);
        LUCENE_LOG.setLevel(Level.WARNING);
        int count = Collections.max(documents);
        RefreshLoad load = load(count);
        output.progress("warm-up");
        for (Contender contender : Contender.values()) {
            load.index(contender, Math.min(count, WARM_UP));
            load.refresh(contender, Math.min(count, WARM_UP / 4), WARM_UP / 16);
        }
        output.format("%s, %d dimensions, %d rounds", data, load.rows()[0].length, rounds.value());
        for (int rate : rates) {
            for (int number : documents.stream()
                    .map(each -> (int) Math.min(each, (long) rate * seconds.value()))
                    .distinct()
                    .toList()) {
                refresh(load, number, rate);
            }
        }
        for (int number : documents) {
            index(load, number);
        }
        return 0;
    }

    private RefreshLoad load(int count) throws IOException, InterruptedException {
        float[][] all;
        if (data.equals(MIXTURE)) {
            SplittableRandom random = new SplittableRandom(1);
            all = Mixture.of(Math.max(1, count / ROWS_PER_CENTER), DIMENSION, random)
                    .draw(count + QUERIES, random);
            for (float[] vector : all) {
                VectorUtil.l2normalize(vector);
            }
        } else {
            Path file = data.equals("minilm")
                    ? RealData.files(count + QUERIES, output::progress).vectors()
                    : Path.of(data);
            all = RealData.vectors(file, count + QUERIES);
            Options.require("--documents", count, 1, all.length - QUERIES);
        }
        return new RefreshLoad(Arrays.copyOf(all, count), Arrays.copyOfRange(all, count, all.length));
    }

    /** The contenders in an order that is reversed from round to round, so that drift of the machine affects both alike. */
    private static List<Contender> inTurn(int round) {
        List<Contender> all = List.of(Contender.values());
        return round % 2 == 0 ? all : all.reversed();
    }

    private void refresh(RefreshLoad load, int count, int rate) throws IOException, InterruptedException {
        Map<Contender, List<Refreshed>> runs = new EnumMap<>(Contender.class);
        for (int round = 0; round < rounds.value(); round++) {
            output.progress("%,d documents, %,d/s, round %d".formatted(count, rate, round + 1));
            for (Contender contender : inTurn(round)) {
                runs.computeIfAbsent(contender, key -> new ArrayList<>()).add(load.refresh(contender, count, rate));
            }
        }
        output.format("%,d documents, %,d/s", count, rate);
        runs.forEach((contender, each) -> {
            Histogram refreshes = new Histogram(each.getFirst().refreshes());
            Histogram searches = new Histogram(each.getFirst().searches());
            each.forEach(run -> {
                refreshes.add(run.refreshes());
                searches.add(run.searches());
            });
            Latencies refresh = Latencies.ofNanos(refreshes);
            Latencies search = Latencies.ofNanos(searches);
            output.format(
                    "  %-6s %d refreshes, ms: P50 %.1f, P99 %.1f, max %.1f; searches, ms: P50 %.2f, P99 %.2f; added in"
                            + " %s s",
                    Options.name(contender),
                    refresh.count(),
                    refresh.p50us() / 1e3,
                    refresh.p99us() / 1e3,
                    refresh.maxUs() / 1e3,
                    search.p50us() / 1e3,
                    search.p99us() / 1e3,
                    Samples.of(each.stream().map(Refreshed::seconds).toList()).spread("%.1f"));
        });
        output.format(
                "  roost / lucene, round by round: refresh P50 %s, P99 %s",
                ratio(runs, run -> run.refresh().p50us()),
                ratio(runs, run -> run.refresh().p99us()));
    }

    private interface Figure {
        double of(Refreshed run);
    }

    private static String ratio(Map<Contender, List<Refreshed>> runs, Figure figure) {
        List<List<Double>> values = Arrays.stream(Contender.values())
                .map(contender -> Objects.requireNonNull(runs.get(contender)).stream()
                        .map(figure::of)
                        .toList())
                .toList();
        return Samples.ratios(values.getFirst(), values.getLast()).spread("%.2f");
    }

    private void index(RefreshLoad load, int count) throws IOException {
        Map<Contender, List<Double>> times = new EnumMap<>(Contender.class);
        for (int round = 0; round < rounds.value(); round++) {
            output.progress("%,d documents at once, round %d".formatted(count, round + 1));
            for (Contender contender : inTurn(round)) {
                times.computeIfAbsent(contender, key -> new ArrayList<>()).add(load.index(contender, count));
            }
        }
        List<Double> roost = Objects.requireNonNull(times.get(Contender.ROOST));
        List<Double> lucene = Objects.requireNonNull(times.get(Contender.LUCENE));
        output.format(
                "%,d documents at once, s: roost %s, lucene %s, roost / lucene %s",
                count,
                Samples.of(roost).spread("%.1f"),
                Samples.of(lucene).spread("%.1f"),
                Samples.ratios(roost, lucene).spread("%.2f"));
    }
}
