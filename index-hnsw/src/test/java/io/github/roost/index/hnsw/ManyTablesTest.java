package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.TableClosedException;
import io.github.roost.testkit.Await;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sixty tables of very different size in one orchestrator. */
@Tag("stress")
class ManyTablesTest {
    private static final int TABLES = 60;
    private static final int DIMENSION = 8;
    private static final int LARGEST = 2_000;
    private static final int CHANGES = 240;
    private static final long IDS_PER_BUILD = 10_000;
    private static final long IDS_PER_TABLE = 1_000_000;

    @TempDir
    private Path folder;

    private final AtomicReferenceArray<HnswTable> tables = new AtomicReferenceArray<>(TABLES);
    private final AtomicBoolean done = new AtomicBoolean();

    /** Rows of a build; the sizes of tables fall as one over their number, after Zipf. */
    private static int rows(int table, int build) {
        return LARGEST / (table + 1) + build % 7;
    }

    /** Ids tell of which table and build a row is. */
    private static HnswTable build(Orchestrator orchestrator, int table, int build) {
        int rows = rows(table, build);
        long first = table * IDS_PER_TABLE + build * IDS_PER_BUILD;
        return HnswTable.builder()
                .name("table " + table)
                .m(4)
                .efConstruction(16)
                .build(
                        orchestrator,
                        LongStream.range(first, first + rows).toArray(),
                        gaussian(rows, DIMENSION, new Random(first)));
    }

    @Test
    void tablesOpenCloseAndSwapWhileAllAreSearched() throws Exception {
        try (Orchestrator orchestrator = Orchestrator.builder()
                        .topology(Fixtures.twoDomains())
                        .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                        .windows(Duration.ofMillis(50), Duration.ofMillis(300))
                        .build();
                ExecutorService threads = Executors.newFixedThreadPool(3)) {
            for (int table = 0; table < TABLES; table++) {
                tables.set(table, build(orchestrator, table, 0));
            }
            List<Future<Integer>> searchers = new ArrayList<>();
            for (int searcher = 0; searcher < 3; searcher++) {
                Random random = new Random(91 + searcher);
                searchers.add(threads.submit(() -> searchUntilDone(orchestrator, random)));
            }
            try {
                change(orchestrator);
            } finally {
                done.set(true);
            }
            for (Future<Integer> searcher : searchers) {
                assertThat(searcher.get()).isPositive();
            }
            awaitThatClosedTablesAreForgotten(orchestrator);
            assertThat(orchestrator.stats().tasks().failed()).isZero();
            for (int table = 0; table < TABLES; table++) {
                tables.get(table).close();
            }
        }
    }

    /** A table is listed until the last worker has left what it was running when the table was closed. */
    private static void awaitThatClosedTablesAreForgotten(Orchestrator orchestrator) {
        Await.until(() -> orchestrator.stats().tables().size() == TABLES);
    }

    /** Swaps tables, and replaces them by others that were saved and are opened, under another mapping id. */
    private void change(Orchestrator orchestrator) throws IOException {
        Random random = new Random(90);
        for (int build = 1; build <= CHANGES && build < IDS_PER_TABLE / IDS_PER_BUILD; build++) {
            int table = random.nextInt(TABLES);
            HnswTable next = build(orchestrator, table, build);
            if (random.nextBoolean()) {
                tables.get(table).swap(next);
            } else {
                Path file = folder.resolve("table");
                next.save(file);
                next.close();
                HnswTable old = tables.getAndSet(table, HnswTable.open(orchestrator, "table " + table, file));
                old.close();
            }
        }
    }

    private int searchUntilDone(Orchestrator orchestrator, Random random) {
        int searches = 0;
        while (!done.get() || searches < 100) {
            int table = (int) (TABLES * Math.pow(random.nextDouble(), 2));
            HnswTable searched = tables.get(table);
            float[] query = gaussian(1, DIMENSION, random)[0];
            CompletableFuture<SearchResult> answer;
            try {
                answer = orchestrator.submit(searched.searchFunction(1_000, 10_000), query, searched.mappingId());
            } catch (TableClosedException closed) {
                assertThat(tables.get(table)).as("%s", closed).isNotSameAs(searched);
                continue;
            }
            // What was accepted is answered, also if the table is closed meanwhile.
            assertIsOneBuild(table, answer.join());
            searches++;
        }
        return searches;
    }

    private static void assertIsOneBuild(int table, SearchResult found) {
        long build = found.ids()[0] % IDS_PER_TABLE / IDS_PER_BUILD;
        long first = table * IDS_PER_TABLE + build * IDS_PER_BUILD;
        int rows = rows(table, (int) build);
        assertThat(found.size()).isEqualTo(Math.min(1_000, rows));
        assertThat(Arrays.stream(found.ids())).allMatch(id -> id >= first && id < first + rows);
    }
}
