package io.github.roost.bench.stores;

import io.github.roost.bench.Provenance;
import io.github.roost.bench.rivals.RealData;
import io.github.roost.bench.rivals.TextOptions;
import io.github.roost.bench.stores.Figures.Better;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.Mixture;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.apache.lucene.util.Version;
import org.springframework.ai.vectorstore.SimpleVectorStore;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: what does a Java program that keeps texts with vectors get from Roost's store of documents, and what from the stores that it could
 * embed instead? Each store is in a process of its own. Approximate stores search with the least effort that finds .99 of the true neighbors, each
 * condition with its own.
 */
@Command(
        name = "stores",
        description = {
            "Embedded stores of texts with vectors and metadata: adding, searching with and without filters, restarts,"
                    + " memory.",
            "Roost's, an index of Lucene, tables of H2 and SQLite that are scanned, and the stores in memory of LangChain4j"
                    + " and Spring AI. A store searches with the least effort whose recall is at least .99, if one is."
        })
public final class StoresBench implements Callable<Integer> {
    private static final double RECALL = .99;
    private static final int PER_CALL = 100;
    /** Texts of a round that are added one a call, and those that are added with a search after each. */
    private static final int SINGLE = 50;

    private static final int SEARCHED_AFTER = 10;
    /** Queries that check a store that compares all: each takes long. */
    private static final int EXACT_QUERIES = 20;
    /** Parts in which the stores take turns to be filled. */
    private static final int PARTS = 4;

    private static final int MADE_UP_DIMENSION = 32;
    private static final long SEED = 42;

    private final @Mixin TextOptions texts = new TextOptions(100_000);
    private final @Mixin RoundOptions rounds = new RoundOptions(3, 2_000);

    @Option(names = "--made-up", description = "Texts and vectors that are drawn at random: needs no Python.")
    private boolean madeUp;

    private final @Mixin JsonOutput output = new JsonOutput();

    private final Figures figures = new Figures(List.of(Contender.values()));
    /** The efforts by condition. */
    private final Map<Contender, Map<Condition, Integer>> efforts = new EnumMap<>(Contender.class);

    @Override
    public Integer call() throws Exception {
        texts.check();
        rounds.check();
        try (TemporaryFolder folder = new TemporaryFolder("roost-stores-")) {
            TextData data = data(folder.path());
            List<RunningStore> stores = new ArrayList<>();
            try {
                for (Contender each : Contender.values()) {
                    stores.add(new RunningStore(each, folder.resolve(Options.name(each)), data));
                }
                measure(stores, data);
            } finally {
                for (RunningStore each : stores) {
                    each.close();
                }
            }
            print(data);
        }
        return 0;
    }

    private TextData data(Path folder) throws IOException, InterruptedException {
        if (!madeUp) {
            int needed = new TextData(folder, folder, "", texts.count()).needed();
            RealData.TextFiles files = RealData.files(needed, output::progress);
            String words = texts.areQueriesWords() ? files.words().toString() : "";
            return new TextData(files.vectors(), files.texts(), words, texts.count());
        }
        TextData data = new TextData(folder.resolve("made-up.fbin"), folder.resolve("made-up.txt"), "", texts.count());
        SplittableRandom random = new SplittableRandom(SEED);
        float[][] vectors = Mixture.of(PER_CALL, MADE_UP_DIMENSION, random).draw(data.needed(), random);
        ByteBuffer bytes = ByteBuffer.allocate((2 + vectors.length * MADE_UP_DIMENSION) * Float.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(vectors.length)
                .putInt(MADE_UP_DIMENSION);
        for (float[] vector : vectors) {
            double norm = Math.sqrt(IntStream.range(0, vector.length)
                    .mapToDouble(i -> (double) vector[i] * vector[i])
                    .sum());
            for (float component : vector) {
                bytes.putFloat((float) (component / norm));
            }
        }
        Files.write(data.vectors(), bytes.array());
        Files.write(
                data.texts(),
                IntStream.range(0, vectors.length)
                        .mapToObj(number -> "made-up text " + number)
                        .toList());
        return data;
    }

    private void measure(List<RunningStore> stores, TextData data) throws IOException, InterruptedException {
        for (int part = 0; part < PARTS; part++) {
            output.progress("filling, part " + (part + 1) + " of " + PARTS);
            for (RunningStore each : inTurn(stores, part)) {
                int from = data.stored() / PARTS * part;
                int to = part == PARTS - 1 ? data.stored() : from + data.stored() / PARTS;
                add("texts added/s, " + PER_CALL + " a call, by quarter of all", each, each.add(from, to, PER_CALL));
            }
        }
        chooseEfforts(stores, data);
        for (int round = 0; round < rounds.count(); round++) {
            output.progress("round " + (round + 1) + " of " + rounds.count());
            List<RunningStore> turn = inTurn(stores, round);
            for (Condition condition : Condition.values()) {
                for (int threads = 1; threads <= 2; threads++) {
                    for (RunningStore each : turn) {
                        search(each, condition, threads);
                    }
                }
            }
            for (RunningStore each : turn) {
                change(each);
            }
            for (RunningStore each : turn) {
                restart(each);
            }
        }
    }

    /** The stores in an order that is reversed from round to round, so that drift of the machine affects all alike. */
    private static List<RunningStore> inTurn(List<RunningStore> stores, int round) {
        return round % 2 == 0 ? stores : stores.reversed();
    }

    private void add(String name, RunningStore store, double perSecond) {
        figures.add(name, Better.LARGER, store.contender(), perSecond);
    }

    private void addMillis(String name, RunningStore store, double millis) {
        figures.add(name, Better.SMALLER, store.contender(), millis);
    }

    private void chooseEfforts(List<RunningStore> stores, TextData data) throws IOException {
        output.progress("recall");
        float[][] rows = data.storedVectors();
        float[][] queries = data.queries();
        for (Condition condition : Condition.values()) {
            int[][] truth = IntStream.range(0, queries.length)
                    .parallel()
                    .mapToObj(query -> ExactSearch.exact(
                            rows,
                            queries[query],
                            TextStore.K,
                            Metric.INNER_PRODUCT,
                            row -> condition.allows(query, (int) row)))
                    .map(found ->
                            Arrays.stream(found.ids()).mapToInt(id -> (int) id).toArray())
                    .toArray(int[][]::new);
            for (RunningStore store : stores) {
                chooseEffort(store, condition, truth);
            }
        }
    }

    private void chooseEffort(RunningStore store, Condition condition, int[][] truth) throws IOException {
        List<Integer> all = store.efforts();
        int count = all.size() == 1 ? EXACT_QUERIES : truth.length;
        int chosen = all.getFirst();
        double recall = recall(truth, store.find(condition, chosen, count));
        note("recall by default, " + condition.share(), store, recall);
        for (int effort : all.stream().filter(each -> each > 0).sorted().toList()) {
            chosen = effort;
            recall = recall(truth, store.find(condition, effort, count));
            if (recall >= RECALL) {
                break;
            }
        }
        note("effort (0: the default), " + condition.share(), store, chosen);
        note("recall, " + condition.share(), store, recall);
        efforts.computeIfAbsent(store.contender(), _ -> new EnumMap<>(Condition.class))
                .put(condition, chosen);
    }

    private void note(String name, RunningStore store, double value) {
        figures.add(name, Better.NEITHER, store.contender(), value);
    }

    private static double recall(int[][] truth, int[][] found) {
        long hits = 0;
        long all = 0;
        for (int query = 0; query < found.length; query++) {
            int[] these = found[query];
            hits += Arrays.stream(truth[query])
                    .filter(number -> Arrays.stream(these).anyMatch(one -> one == number))
                    .count();
            all += truth[query].length;
        }
        return hits / (double) all;
    }

    private int effort(RunningStore store, Condition condition) {
        return efforts.getOrDefault(store.contender(), Map.of()).getOrDefault(condition, 0);
    }

    private void search(RunningStore store, Condition condition, int threads) throws IOException {
        double[] measured = store.search(
                condition, effort(store, condition), threads, rounds.slice().toMillis());
        add("searches/s, " + condition.share() + ", threads " + threads, store, measured[0]);
        if (condition == Condition.ALL && threads == 1) {
            addMillis("P99, ms", store, measured[1]);
        }
    }

    private void change(RunningStore store) throws IOException {
        int effort = effort(store, Condition.ALL);
        int next = store.size();
        add("texts added/s, one a call", store, store.add(next, next + SINGLE, 1));
        next += SINGLE;
        addMillis("first search after adding one, ms", store, store.firstSearch(effort, next, SEARCHED_AFTER));
        next += SEARCHED_AFTER;
        double[] beside = store.searchBeside(effort, next, rounds.slice().toMillis());
        addMillis("P99 while 100 are added/s, ms", store, beside[0]);
        note("added/s meanwhile", store, beside[1]);
    }

    private void restart(RunningStore store) throws IOException, InterruptedException {
        double[] closed = store.restart();
        addMillis("close, ms", store, closed[0]);
        addMillis("open and first search, ms", store, closed[1]);
        double[] memory = store.memory();
        figures.add("heap after opening, MiB", Better.SMALLER, store.contender(), memory[0]);
        figures.add("resident after opening, MiB", Better.SMALLER, store.contender(), memory[1]);
        figures.add("files, MiB", Better.SMALLER, store.contender(), mib(store.folder()));
        int before = store.size() + SINGLE;
        store.add(before - SINGLE, before, 1);
        addMillis("open and first search after a kill, ms", store, store.kill());
        note("texts lost by the kill of " + SINGLE, store, before - store.size());
    }

    private static double mib(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                            .mapToLong(file -> file.toFile().length())
                            .sum()
                    / (double) (1 << 20);
        }
    }

    private void print(TextData data) throws IOException {
        Provenance provenance = Provenance.here(
                RoostHome.checkout(),
                TopologyReader.live().read(),
                new TreeMap<>(Map.of(
                        "lucene", Version.LATEST.toString(),
                        "h2", Provenance.versionOf(org.h2.Driver.class),
                        "sqlite-jdbc", Provenance.versionOf(org.sqlite.JDBC.class),
                        "spring-ai", Provenance.versionOf(SimpleVectorStore.class),
                        "langchain4j",
                                Provenance.versionOf(
                                        dev.langchain4j.store.embedding.inmemory.InMemoryEmbeddingStore.class))));
        output.line(provenance.inWords() + "; " + provenance.versions());
        output.format(
                "%,d texts, %d queries that are %s, k %d, %d rounds of %d ms; medians (min to max)",
                data.stored(),
                TextData.QUERIES,
                data.words().isEmpty() ? "texts of the same kind" : "words",
                TextStore.K,
                rounds.count(),
                rounds.slice().toMillis());
        output.line("");
        figures.print(output::line);
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("texts", data.stored());
        all.put("provenance", provenance);
        all.put("figures", figures.all());
        output.print(all);
    }
}
