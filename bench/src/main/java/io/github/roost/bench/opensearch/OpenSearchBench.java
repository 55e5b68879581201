package io.github.roost.bench.opensearch;

import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.DataOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.Output;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.simulator.options.VectorDataOptions;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench opensearch}: the plugin in nodes that are local processes. */
@Command(
        name = "opensearch",
        description = {
            "The plugin in local OpenSearch nodes, over HTTP, compared with Lucene's formats and OpenSearch's pool.",
            "Formats at equal recall; the P99 of seven tenants next to a hot one; one, two and three nodes."
        })
public final class OpenSearchBench implements Callable<Integer> {
    private static final int QUERIES = 500;
    private static final int MAX_NODES = 3;

    @Option(
            names = "--only",
            paramLabel = "formats|tenants|nodes",
            split = ",",
            description = "Measurements; default all, one after another.")
    private List<Question> questions = List.of(Question.values());

    private final @Mixin VectorDataOptions data = new VectorDataOptions(DataOption.Data.packages);

    @Option(
            names = "--format",
            paramLabel = "roost|lucene_hnsw|lucene_int8|lucene_binary",
            split = ",",
            description = "Formats to compare; default all.")
    private List<FormatsOverHttp.Contender> formats = List.of(FormatsOverHttp.Contender.values());

    @Option(names = "--recall", paramLabel = "R", split = ",", description = "Target recalls; default .95,.98.")
    private List<Double> recalls = List.of(.95, .98);

    @Option(names = "--k", paramLabel = "N", split = ",", description = "Neighbors per query; default 10.")
    private List<Integer> nearest = List.of(10);

    private final @Mixin NumberOption threads = NumberOption.threads(4, 256);

    @Option(names = "--effort", paramLabel = "N", description = "Effort of tenants' and nodes' searches; default 100.")
    private int effort = 100;

    @Option(
            names = "--per-second",
            paramLabel = "N",
            description = "Searches per second of each tenant but the hot one; default 10.")
    private int perSecond = 10;

    private final @Mixin RoundOptions rounds = new RoundOptions(5, 2_000);

    /** The measurements. */
    private enum Question {
        FORMATS,
        TENANTS,
        NODES
    }

    private final @Mixin Output output = new Output();

    @Override
    public Integer call() throws Exception {
        data.check();
        nearest.forEach(k -> Options.require("--k", k, 1, 1_000));
        NumberOption.check(threads);
        Options.require("--effort", effort, 1, Vectors.MAX_EF);
        Options.require("--per-second", perSecond, 1, 10_000);
        rounds.check();
        VectorDataOptions.Vectors vectors = data.read(QUERIES);
        output.format(
                "%s, %,d x %d, %d clients, %d rounds of %,d ms each",
                vectors.name(),
                vectors.rows().length,
                vectors.rows()[0].length,
                threads.value(),
                rounds.count(),
                rounds.slice().toMillis());
        for (Question question : questions) {
            switch (question) {
                case FORMATS -> formats(vectors.rows(), vectors.queries());
                case TENANTS -> tenants(vectors.rows(), vectors.queries());
                case NODES -> nodes(vectors.rows(), vectors.queries());
            }
        }
        return 0;
    }

    private void formats(float[][] vectors, float[][] queries)
            throws IOException, InterruptedException, ExecutionException {
        try (FormatsOverHttp bench = FormatsOverHttp.start(
                RoostHome.checkout(), Collections.max(nearest), formats, vectors, queries, output::progress)) {
            for (int k : nearest) {
                for (double recall : recalls) {
                    formats(bench, k, recall);
                }
            }
        }
    }

    private void formats(FormatsOverHttp bench, int k, double recall) throws InterruptedException, ExecutionException {
        List<FormatsOverHttp.Outcome> outcomes =
                bench.measure(k, recall, threads.value(), rounds.count(), rounds.slice());
        FormatsOverHttp.Outcome reference = outcomes.stream()
                .filter(outcome -> outcome.contender() == FormatsOverHttp.Contender.LUCENE_HNSW)
                .findAny()
                .orElse(outcomes.getFirst());
        for (FormatsOverHttp.Outcome outcome : outcomes) {
            output.format(
                    "formats %d at %s  %-13s %24s searches/s, effort %3d, recall %.3f, %s times %s",
                    k,
                    recall,
                    Options.name(outcome.contender()),
                    outcome.perSecond().spread("%,.0f"),
                    outcome.effort(),
                    outcome.recall(),
                    outcome.times(reference).spread("%.2f"),
                    Options.name(reference.contender()));
        }
    }

    private void tenants(float[][] vectors, float[][] queries)
            throws IOException, InterruptedException, ExecutionException {
        try (TenantsOverHttp bench =
                TenantsOverHttp.start(RoostHome.checkout(), vectors, queries, effort, output::progress)) {
            Map<TenantsOverHttp.Pool, TenantsOverHttp.Outcome> outcomes =
                    bench.measure(threads.value(), perSecond, rounds.count(), rounds.slice());
            TenantsOverHttp.Outcome reference =
                    Objects.requireNonNull(outcomes.get(TenantsOverHttp.Pool.INDEX_SEARCHER));
            outcomes.forEach((pool, outcome) -> output.format(
                    "tenants  slices by %-14s seven: p50 %s ms, p99 %s ms, p99 %s times; hot: %s searches/s",
                    Options.name(pool),
                    outcome.p50().spread("%.1f"),
                    outcome.p99().spread("%.1f"),
                    outcome.p99Times(reference).spread("%.2f"),
                    Samples.of(outcome.hot()).spread("%,.0f")));
        }
    }

    private void nodes(float[][] vectors, float[][] queries)
            throws IOException, InterruptedException, ExecutionException {
        List<Integer> sizes = List.of(1, 2, MAX_NODES);
        try (NodesOverHttp bench =
                NodesOverHttp.start(RoostHome.checkout(), sizes, vectors, queries, effort, output::progress)) {
            List<NodesOverHttp.Outcome> outcomes = bench.measure(threads.value(), rounds.count(), rounds.slice());
            for (NodesOverHttp.Outcome outcome : outcomes) {
                output.format(
                        "nodes %d  %s searches/s, %s times one node, p99 %s ms",
                        outcome.nodes(),
                        outcome.perSecond().spread("%,.0f"),
                        outcome.times(outcomes.getFirst()).spread("%.2f"),
                        outcome.p99().spread("%.1f"));
            }
        }
    }
}
