package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.Await;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GraphBuildTest {
    private static final int ROWS = 3_000;
    private static final int DIMENSION = 20;

    @TempDir
    private Path folder;

    private static float[][] rows() {
        float[][] rows = gaussian(ROWS, DIMENSION, new Random(5));
        // Equal rows are one node.
        System.arraycopy(rows[7], 0, rows[2_000], 0, DIMENSION);
        return rows;
    }

    private static Topology oneCore() {
        return new Topology(
                "test",
                DomainLevel.L3,
                false,
                List.of(new CacheDomain(0, 0, List.of(0), 0, List.of(new Core(0, -1, List.of(0))))));
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void onOneWorkerTheSameRowsGiveTheSameGraph(Metric metric) throws Exception {
        try (Orchestrator orchestrator =
                Orchestrator.builder().topology(oneCore()).build()) {
            Path one = folder.resolve("one");
            Path other = folder.resolve("other");
            for (Path file : List.of(one, other)) {
                try (HnswTable table = HnswTable.builder()
                        .metric(metric)
                        .m(6)
                        .efConstruction(30)
                        .build(orchestrator, rows())) {
                    table.save(file);
                }
            }
            assertThat(Files.mismatch(one, other)).isEqualTo(-1);
        }
    }

    @Test
    void whatIsBuiltIsSavedOpenedAndFindsItsRows() throws Exception {
        float[][] rows = rows();
        Path file = folder.resolve("table");
        try (Orchestrator orchestrator = Fixtures.roundRobin()) {
            try (HnswTable built = HnswTable.builder().m(8).build(orchestrator, rows)) {
                built.save(file);
            }
            try (HnswTable table = HnswTable.open(orchestrator, "opened", file)) {
                int found = 0;
                for (int row = 0; row < ROWS; row++) {
                    long expected = row == 2_000 ? 7 : row;
                    found += table.search(rows[row], 1, 50).join().ids()[0] == expected ? 1 : 0;
                }
                assertThat(found).isGreaterThan(ROWS * 98 / 100);
            }
        }
    }

    @Test
    void theLargestProductsAreFound() {
        Random random = new Random(8);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        for (float[] row : rows) {
            float factor = (float) Math.exp(.5 * random.nextGaussian());
            for (int i = 0; i < row.length; i++) {
                row[i] *= factor;
            }
        }
        int hits = 0;
        try (Orchestrator orchestrator = Fixtures.roundRobin();
                HnswTable table =
                        HnswTable.builder().metric(Metric.INNER_PRODUCT).build(orchestrator, rows)) {
            for (float[] query : gaussian(100, DIMENSION, random)) {
                Set<Long> truth = Arrays.stream(
                                exact(rows, query, 10, Metric.INNER_PRODUCT).ids())
                        .boxed()
                        .collect(Collectors.toSet());
                for (long id : table.search(query, 10, 80).join().ids()) {
                    hits += truth.contains(id) ? 1 : 0;
                }
            }
        }
        assertThat(hits).isGreaterThan(950);
    }

    @Test
    void aCancelledBuildEndsWithoutATable() throws Exception {
        float[][] rows = rows();
        CountDownLatch reading = new CountDownLatch(1);
        VectorSource source = new VectorSource() {
            @Override
            public int size() {
                return ROWS;
            }

            @Override
            public int dimension() {
                return DIMENSION;
            }

            @Override
            public void read(int row, float[] into) {
                System.arraycopy(rows[row], 0, into, 0, DIMENSION);
                reading.countDown();
            }
        };
        try (Orchestrator orchestrator = Fixtures.roundRobin()) {
            TableBuild<HnswTable> build = HnswTable.builder()
                    .efConstruction(10_000)
                    .m(256)
                    .start(orchestrator, LongStream.range(0, ROWS).toArray(), source);
            reading.await();
            assertThat(build.cancel()).isTrue();
            assertThatThrownBy(build::join).isInstanceOf(CancellationException.class);
        }
    }

    /** Under inner product, a third of the time goes to links that are added when all rows have been inserted, if norms vary. */
    @Test
    void theProgressOfABuildDoesNotWaitAtItsEnd() throws Exception {
        VectorSource rows = VectorSource.of(gaussian(ROWS, DIMENSION, new Random(6)));
        long[] ids = LongStream.range(0, ROWS).toArray();
        try (Orchestrator orchestrator = Fixtures.roundRobin()) {
            TableBuild<HnswTable> build =
                    HnswTable.builder().metric(Metric.INNER_PRODUCT).start(orchestrator, ids, rows);
            List<Double> looks = new ArrayList<>();
            Await.until(() -> {
                looks.add(build.progress());
                return build.result().isDone();
            });
            build.join().close();
            assertThat(build.progress()).isEqualTo(1);
            assertThat(looks.stream().filter(progress -> progress > .985).count())
                    .isLessThan(10 + looks.size() / 4);
        }
    }

    /** All tests of this module run without jvector. */
    @Test
    void aBuildInJavaNamesTheDependencyThatItNeeds() throws Exception {
        String message = "buildInJava(true), and every build without C kernels, needs jvector: add the dependency"
                + " io.github.roost:roost-index-jvector";
        try (Orchestrator orchestrator = Fixtures.roundRobin()) {
            HnswTable.Builder builder = HnswTable.builder().buildInJava(true);
            assertThatThrownBy(() -> builder.build(orchestrator, rows()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(message);
        }
    }
}
