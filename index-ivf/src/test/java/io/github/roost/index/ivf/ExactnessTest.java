package io.github.roost.index.ivf;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.PlainScan;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.index.ivf.kernel.ScoredRows;
import io.github.roost.testkit.Effort;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables with all lists probed, on every kernel that this machine runs, against brute force. */
@Tag("stress")
class ExactnessTest {
    private static final int[] DIMENSIONS = {1, 2, 7, 16, 17, 33, 64, 127, 129, 300};

    @TempDir
    private Path folder;

    private static final Orchestrator ORCHESTRATOR = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .build();

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    @AfterEach
    void preferTheFastestKernel() {
        System.clearProperty(ScanKernels.PROPERTY);
    }

    static List<String> kernels() {
        return ScanKernels.available().stream().map(ScanKernel::name).toList();
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void idsAndDistancesAreThoseOfBruteForceToTheBit(String kernel) {
        System.setProperty(ScanKernels.PROPERTY, kernel);
        Random random = new Random(21);
        for (int dimension : DIMENSIONS) {
            for (Metric metric : Metric.values()) {
                float[][] rows = vectors(250, dimension, () -> (float) random.nextGaussian());
                float[][] queries = vectors(4, dimension, () -> (float) random.nextGaussian());
                long[] ids = idsOf(rows, random);
                RowPreparation preparation = new RowPreparation(metric, dimension, ElementType.FLOAT32);
                float[][] stored = preparation.prepareRows(rows);
                Kept kept = random.nextBoolean() ? Kept.FLOATS : Kept.CODED_FLOATS;
                try (IvfTable table =
                        kept.builder().metric(metric).nlist(7).nprobe(7).build(ORCHESTRATOR, ids, rows)) {
                    for (float[] query : queries) {
                        int k = 1 + random.nextInt(40);
                        float[] prepared = preparation.stored(query);
                        assertThat(table.search(query, k, 7).join())
                                .as("%s, %s, %s, dimension %d, k %d", kernel, kept, metric, dimension, k)
                                .isEqualTo(PlainScan.nearest(metric, stored, ids, prepared, k));
                    }
                }
            }
        }
    }

    /** Rows of which bytes tell little: crowded within a step, far beyond what was learned, all alike, of few values. */
    @ParameterizedTest
    @EnumSource(Metric.class)
    void whatBytesTellLittleOfIsFoundToo(Metric metric) {
        Random random = new Random(29);
        for (int trial = 0; trial < Effort.times(20); trial++) {
            int dimension = 1 + random.nextInt(40);
            int kind = trial % 10;
            float[][] rows = vectors(900, dimension, () -> component(kind, random));
            long[] ids = idsOf(rows, random);
            int built = 600;
            // Very small and very large rows are compared at another scale.
            RowPreparation preparation = new RowPreparation(metric, dimension, ElementType.FLOAT32)
                    .fittedTo(RowPreparation.sizesOf(Arrays.copyOf(rows, built)));
            float[][] stored = preparation.prepareRows(rows);
            try (IvfTable table = Kept.CODED_FLOATS
                    .builder()
                    .metric(metric)
                    .nlist(6)
                    .nprobe(6)
                    .build(ORCHESTRATOR, Arrays.copyOf(ids, built), Arrays.copyOf(rows, built))) {
                for (int added = built; added < rows.length; added++) {
                    for (int d = 0; d < dimension; d++) {
                        rows[added][d] *= added % 3 == 0 ? 30 : 1;
                    }
                    stored[added] = preparation.prepareRows(new float[][] {rows[added]})[0];
                    table.add(ids[added], rows[added]);
                }
                for (int i = 0; i < 6; i++) {
                    float[] query = i % 2 == 0
                            ? rows[random.nextInt(rows.length)]
                            : vectors(1, dimension, () -> component(kind, random))[0];
                    int k = 1 + random.nextInt(i < 3 ? 10 : 300);
                    StoredQuery prepared = preparation.storedQuery(query);
                    assertThat(table.search(query, k, 6).join())
                            .as("%s, kind %d, dimension %d, k %d", metric, kind, dimension, k)
                            .isEqualTo(prepared.original(PlainScan.nearest(metric, stored, ids, prepared.vector(), k)));
                }
            }
        }
    }

    /** Scores of bytes that are as low as those which stand for rows that bytes cannot tell of. */
    @Test
    void largeNumbersOfBytesAreFound() {
        float[][] rows = new float[20][4];
        for (int i = 0; i < rows.length; i++) {
            Arrays.fill(rows[i], (i % 2 == 0 ? 1 : -1) * (8e18f - i * 3e17f));
        }
        try (IvfTable table = Kept.BOTH
                .builder()
                .metric(Metric.INNER_PRODUCT)
                .nlist(2)
                .nprobe(2)
                .build(ORCHESTRATOR, rows)) {
            SearchResult found =
                    table.search(new float[] {8e18f, 8e18f, 8e18f, 8e18f}, 3, 2).join();
            assertThat(found.ids()).containsExactly(0, 2, 4);
        }
    }

    private static float component(int kind, Random random) {
        float gaussian = (float) random.nextGaussian();
        return switch (kind) {
            case 0 -> random.nextInt(100) == 0 ? 1_000 * gaussian : gaussian;
            case 1 -> 5 + 1e-4f * gaussian;
            case 2 -> 1 + random.nextInt(3);
            case 3 -> (float) Math.exp(3 * gaussian);
            case 4 -> 1;
            case 5 -> 1e17f * gaussian;
            case 6 -> 2e18f * gaussian;
            case 7 -> 0x1p-80f * random.nextInt(60);
            case 8 -> 5 + 2e-6f * gaussian;
            default -> random.nextInt(20_000) == 0 ? 1e9f : gaussian;
        };
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void float16IsExactToItsRounding(String kernel) {
        System.setProperty(ScanKernels.PROPERTY, kernel);
        Random random = new Random(27);
        for (int dimension : DIMENSIONS) {
            for (Metric metric : Metric.values()) {
                float[][] rows = vectors(250, dimension, () -> (float) random.nextGaussian());
                float[][] queries = vectors(4, dimension, () -> (float) random.nextGaussian());
                long[] ids = idsOf(rows, random);
                RowPreparation preparation = new RowPreparation(metric, dimension, ElementType.FLOAT16);
                float[][] rounded = preparation.prepareRows(rows);
                for (int i = 0; i < rounded.length; i++) {
                    rounded[i] = rounded[i].clone();
                    for (int d = 0; d < dimension; d++) {
                        rounded[i][d] = Float.float16ToFloat(Float.floatToFloat16(rounded[i][d]));
                    }
                }
                try (IvfTable table =
                        Kept.HALVES.builder().metric(metric).nlist(7).nprobe(7).build(ORCHESTRATOR, ids, rows)) {
                    for (float[] query : queries) {
                        assertThat(table.search(query, 20, 7).join())
                                .as("%s, %s, dimension %d", kernel, metric, dimension)
                                .isEqualTo(PlainScan.nearest(metric, rounded, ids, preparation.stored(query), 20));
                        assertThat(table.search(SearchRequest.of(query, 20)
                                                .effort(7)
                                                .filter(IdFilter.of(id -> id % 2 == 0)))
                                        .join())
                                .isEqualTo(evenOnes(metric, rounded, ids, preparation.stored(query), 20));
                    }
                }
            }
        }
    }

    private static SearchResult evenOnes(Metric metric, float[][] rows, long[] ids, float[] query, int k) {
        int[] even = IntStream.range(0, ids.length).filter(i -> ids[i] % 2 == 0).toArray();
        float[][] evenRows = Arrays.stream(even).mapToObj(i -> rows[i]).toArray(float[][]::new);
        return PlainScan.nearest(
                metric, evenRows, Arrays.stream(even).mapToLong(i -> ids[i]).toArray(), query, k);
    }

    /** What the codes choose, by scores written as plainly as can be, and then the distances of what has been chosen. */
    @ParameterizedTest
    @MethodSource("kernels")
    void candidatesAreThoseOfTheBestScoresAndTheirDistancesExact(String kernel) throws IOException {
        System.setProperty(ScanKernels.PROPERTY, kernel);
        Random random = new Random(25);
        for (int dimension : DIMENSIONS) {
            for (Metric metric : Metric.values()) {
                for (Kept kept : List.of(Kept.BOTH, Kept.CODES)) {
                    float[][] rows = vectors(250, dimension, () -> (float) random.nextGaussian());
                    float[][] queries = vectors(4, dimension, () -> (float) random.nextGaussian());
                    long[] ids = idsOf(rows, random);
                    double rerank = random.nextInt(30) / 10.;
                    try (IvfTable table = kept.builder()
                            .metric(metric)
                            .nlist(7)
                            .nprobe(7)
                            .rerank(rerank)
                            .build(ORCHESTRATOR, ids, rows)) {
                        for (float[] query : queries) {
                            int k = 1 + random.nextInt(40);
                            assertThat(table.search(query, k, 7).join())
                                    .as("%s, %s, %s, dimension %d, k %d", kernel, metric, kept, dimension, k)
                                    .isEqualTo(inTwoStages(metric, kept, codecs(table), rows, ids, query, k, rerank));
                        }
                    }
                }
            }
        }
    }

    private static SearchResult inTwoStages(
            Metric metric,
            Kept kept,
            Map<Long, ScalarCodec> codecs,
            float[][] rows,
            long[] ids,
            float[] query,
            int k,
            double rerank) {
        record Candidate(long id, float score, float[] compared) {}
        int dimension = query.length;
        RowPreparation preparation = new RowPreparation(metric, dimension, ElementType.FLOAT32);
        float[][] stored = preparation.prepareRows(rows);
        float[] prepared = preparation.stored(query);
        ScanKernel plain = ScanKernels.available().getLast();
        List<Candidate> candidates = IntStream.range(0, rows.length)
                .mapToObj(row -> {
                    ScalarCodec codec = requireNonNull(codecs.get(ids[row]));
                    CodeRun run = CodeRun.allocate(Arena.ofAuto(), 1, CodeRun.strideOf(dimension));
                    codec.write(run, 0, stored[row], kept == Kept.BOTH);
                    CodeGroup group = new CodeGroup();
                    group.begin(metric, codec.quantizer().center());
                    group.add(prepared);
                    plain.weigh(group);
                    group.bound(0, Float.POSITIVE_INFINITY);
                    plain.scan(run, 0, 1, group);
                    ScoredRows scored = new ScoredRows();
                    scored.add(group, 0, 0);
                    float[] compared = kept == Kept.BOTH ? stored[row] : codec.decode(run.read(0), run.scale(0));
                    return new Candidate(ids[row], scored.score(0), compared);
                })
                .sorted(Comparator.comparing(Candidate::score).thenComparing(Candidate::id))
                .toList();
        long certain = candidates.stream()
                .filter(each -> each.score() <= ScoreMargin.CERTAIN)
                .count();
        List<Candidate> best = candidates.stream()
                .limit(certain + k + (long) Math.ceil(rerank * Math.sqrt(k)))
                .toList();
        float[][] compared = best.stream().map(Candidate::compared).toArray(float[][]::new);
        long[] comparedIds = best.stream().mapToLong(Candidate::id).toArray();
        return PlainScan.nearest(metric, compared, comparedIds, prepared, k);
    }

    /** By id, the codec of the row's list. */
    private Map<Long, ScalarCodec> codecs(IvfTable table) throws IOException {
        Path file = folder.resolve("table");
        table.save(file);
        IvfFile saved = IvfFile.open(file).table();
        Map<Long, ScalarCodec> codecs = new HashMap<>();
        for (int list = 0; list < saved.ids().length; list++) {
            for (long id : saved.ids()[list]) {
                codecs.put(id, saved.codecs().get(list));
            }
        }
        return codecs;
    }

    /** Whole numbers: floats sum them without rounding, float16 holds them, and many rows are equally far. */
    @ParameterizedTest
    @MethodSource("kernels")
    void amongWholeNumbersTiesGoToTheSmallerId(String kernel) {
        System.setProperty(ScanKernels.PROPERTY, kernel);
        Random random = new Random(22);
        for (int dimension : DIMENSIONS) {
            for (Metric metric : List.of(Metric.SQUARED_L2, Metric.INNER_PRODUCT)) {
                Kept kept = List.of(Kept.FLOATS, Kept.CODED_FLOATS, Kept.HALVES).get(random.nextInt(3));
                int span = dimension < 4 ? 9 : 2;
                float[][] rows = vectors(250, dimension, () -> (float) random.nextInt(span));
                float[][] queries = vectors(4, dimension, () -> (float) random.nextInt(span));
                long[] ids = idsOf(rows, random);
                try (IvfTable table =
                        kept.builder().metric(metric).nlist(7).nprobe(7).build(ORCHESTRATOR, ids, rows)) {
                    for (float[] query : queries) {
                        assertThat(table.search(query, 30, 7).join().ids())
                                .as("%s, %s, %s, dimension %d", kernel, kept, metric, dimension)
                                .containsExactly(inWholeNumbers(metric, rows, ids, query, 30));
                    }
                }
            }
        }
    }

    /** Bytes are scanned as bytes: nothing of them is lost. */
    @ParameterizedTest
    @MethodSource("kernels")
    void rowsThatArriveAsBytesAreExactWithoutTheirFloats(String kernel) {
        System.setProperty(ScanKernels.PROPERTY, kernel);
        Random random = new Random(26);
        for (int min : new int[] {0, -128, 1_000}) {
            float[][] rows = vectors(400, 48, () -> (float) (min + random.nextInt(256)));
            float[][] queries = vectors(5, 48, () -> (float) (min + random.nextInt(256)));
            long[] ids = idsOf(rows, random);
            try (IvfTable table =
                    Kept.CODES.builder().nlist(7).nprobe(7).rerank(5).build(ORCHESTRATOR, ids, rows)) {
                for (float[] query : queries) {
                    assertThat(table.search(query, 10, 7).join())
                            .isEqualTo(PlainScan.nearest(Metric.SQUARED_L2, rows, ids, query, 10));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void theLargestKOrdersTenThousandRows(Metric metric) {
        Random random = new Random(23);
        float[][] rows = vectors(10_050, 5, () -> (float) random.nextGaussian());
        long[] ids = idsOf(rows, random);
        RowPreparation preparation = new RowPreparation(metric, 5, ElementType.FLOAT32);
        try (IvfTable table =
                IvfTable.builder().metric(metric).nlist(20).nprobe(20).build(ORCHESTRATOR, ids, rows)) {
            float[] query = vectors(1, 5, () -> (float) random.nextGaussian())[0];
            SearchResult expected =
                    PlainScan.nearest(metric, preparation.prepareRows(rows), ids, preparation.stored(query), 10_000);
            assertThat(table.search(query, 10_000, 20).join()).isEqualTo(expected);
            assertThat(expected.size()).isEqualTo(10_000);
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void aSeedGivesTheSameAnswersOnAnyNumberOfWorkers(String kernel) {
        System.setProperty(ScanKernels.PROPERTY, kernel);
        Random random = new Random(24);
        float[][] rows = vectors(1_500, 19, () -> (float) random.nextGaussian());
        float[][] queries = vectors(30, 19, () -> (float) random.nextGaussian());
        try (Orchestrator alone = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 core:1 pu:1").read())
                        .build();
                IvfTable table = IvfTable.builder().nlist(30).nprobe(2).seed(5).build(ORCHESTRATOR, rows);
                IvfTable again = IvfTable.builder().nlist(30).nprobe(2).seed(5).build(alone, rows);
                IvfTable other = IvfTable.builder().nlist(30).nprobe(2).seed(6).build(alone, rows)) {
            assertThat(answers(again, queries)).isEqualTo(answers(table, queries));
            assertThat(answers(other, queries)).isNotEqualTo(answers(table, queries));
        }
    }

    /** Few lists, so that the answers show how the rows lie in them. */
    private static List<SearchResult> answers(IvfTable table, float[][] queries) {
        return Arrays.stream(queries)
                .map(query -> table.search(query, 40, 2).join())
                .toList();
    }

    private static long[] inWholeNumbers(Metric metric, float[][] rows, long[] ids, float[] query, int k) {
        record Row(long id, long distance) {}
        return IntStream.range(0, rows.length)
                .mapToObj(i -> new Row(ids[i], inWholeNumbers(metric, rows[i], query)))
                .sorted(Comparator.comparing(Row::distance).thenComparing(Row::id))
                .limit(k)
                .mapToLong(Row::id)
                .toArray();
    }

    private static long inWholeNumbers(Metric metric, float[] row, float[] query) {
        long sum = 0;
        for (int d = 0; d < row.length; d++) {
            long r = (long) row[d];
            long q = (long) query[d];
            sum += metric == Metric.SQUARED_L2 ? (r - q) * (r - q) : -r * q;
        }
        return sum;
    }

    /** Scattered, and not in the rows' order. */
    private static long[] idsOf(float[][] rows, Random random) {
        return random.longs().distinct().limit(rows.length).toArray();
    }

    private static float[][] vectors(int count, int dimension, Supplier<Float> component) {
        float[][] vectors = new float[count][dimension];
        for (float[] vector : vectors) {
            for (int d = 0; d < dimension; d++) {
                vector[d] = component.get();
            }
            // No vector is zero: it has no cosine.
            vector[dimension - 1] += vector[dimension - 1] == 0 ? 1 : 0;
        }
        return vectors;
    }
}
