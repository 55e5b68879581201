package io.github.roost.index.disk.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.MutableDiskTable;
import io.github.roost.index.disk.Rows;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.io.BlockIo;
import io.github.roost.io.BlockReads;
import io.github.roost.io.FaultDevice;
import io.github.roost.testkit.Await;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Searches whose slices the test runs itself, with updates between two of them. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BeamSearchTest {
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final int BUILT = 600;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 800, 64, 31);
    private static final SearchContext CONTEXT = SearchContext.outside((nodes, bytes) -> {});

    private final Orchestrator orchestrator = Orchestrator.builder().build();
    private final FaultDevice device = new FaultDevice(1);

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private MutableDiskTable open(BlockIo io) throws Exception {
        return open(io, ROWS.vectors());
    }

    private MutableDiskTable open(BlockIo io, float[][] vectors) throws Exception {
        DiskTable.builder()
                .degree(16)
                .build(orchestrator, io, FILE, Arrays.copyOf(ROWS.ids(), BUILT), Arrays.copyOf(vectors, BUILT));
        return DiskTable.open(orchestrator, io, "table", FILE);
    }

    /** Runs slices up to the end; lets the held read end when all others have. */
    private SearchResult end(BeamSearch search, BlockReads reads, Step<BeamSearch, SearchResult> begun)
            throws Exception {
        Step<BeamSearch, SearchResult> step = begun;
        while (!(step instanceof Step.Done<BeamSearch, SearchResult>(SearchResult answer))) {
            step = switch (step) {
                case Step.Park<BeamSearch, SearchResult>(Pending pending, var next) -> {
                    while (!pending.ready() && reads.inFlight() > 1) {
                        Thread.onSpinWait();
                    }
                    if (!pending.ready()) {
                        device.release();
                        await(pending);
                    }
                    yield next.step(search, CONTEXT);
                }
                case Step.Yield<BeamSearch, SearchResult>(var next) -> next.step(search, CONTEXT);
                default -> throw new AssertionError(step);
            };
        }
        return answer;
    }

    private static void await(Pending pending) {
        while (!pending.ready()) {
            Thread.onSpinWait();
        }
    }

    private static BeamSearch search(DiskTable table, BlockReads reads, SearchRequest request) {
        DiskGraph graph = Rows.graph(table);
        return new BeamSearch(graph, graph.codes(), new SearchCounts(), request, PageReads.DEFAULT, false, reads);
    }

    @Test
    void aRowDeletedDuringASearchIsNotAnsweredWhenAnotherRowHasItsNode() throws Exception {
        try (BlockIo io = device.io(orchestrator, 256);
                MutableDiskTable table = open(io);
                BlockReads reads = io.reads()) {
            ProductCodes codes = Rows.graph(table).codes();
            int entry = Rows.graph(table).entry();
            long deleted = codes.id(entry);
            float[] query = Objects.requireNonNull(table.vector(deleted));
            BeamSearch search = search(table, reads, SearchRequest.of(query, 20).effort(50));
            Step<BeamSearch, SearchResult> step = search.begin(search, CONTEXT);
            await(((Step.Park<BeamSearch, SearchResult>) step).pending());

            // The page of the entry has been read. Now another row gets its node.
            table.remove(deleted);
            for (int row = 0; row < 70 && codes.state(entry) != ProductCodes.FREE; row++) {
                table.remove(Rows.id(row));
            }
            Await.until(() -> codes.state(entry) == ProductCodes.FREE);
            for (int row = BUILT; codes.state(entry) != ProductCodes.LIVE; row++) {
                table.put(Rows.id(row), ROWS.vectors()[row]);
            }
            assertThat(codes.id(entry)).isNotEqualTo(deleted);

            assertThat(end(search, reads, step).ids()).doesNotContain(deleted);
        }
    }

    @Test
    void aRowWhoseEqualsAreDeletedDuringASearchIsFound() throws Exception {
        float[][] vectors = ROWS.vectors().clone();
        Arrays.fill(vectors, 0, 10, vectors[0]);
        try (BlockIo io = device.io(orchestrator, 256);
                MutableDiskTable table = open(io, vectors);
                BlockReads reads = io.reads()) {
            DiskGraph graph = Rows.graph(table);
            ProductCodes codes = graph.codes();
            int[] equal = IntStream.range(0, BUILT)
                    .filter(node -> Rows.row(codes.id(node)) < 10)
                    .toArray();
            // The search comes to the first one, or to the entry, and knows of the others from it.
            int left = Arrays.stream(equal)
                    .skip(1)
                    .filter(node -> node != graph.entry())
                    .findFirst()
                    .orElseThrow();
            BeamSearch search =
                    search(table, reads, SearchRequest.of(vectors[0], 5).effort(50));
            Step<BeamSearch, SearchResult> step = search.begin(search, CONTEXT);

            long found = codes.id(left);
            for (int row = 0; row < 80; row++) {
                if (Rows.id(row) != found) {
                    table.remove(Rows.id(row));
                }
            }
            Await.until(() ->
                    Arrays.stream(equal).allMatch(node -> node == left || codes.state(node) == ProductCodes.FREE));

            assertThat(end(search, reads, step).ids()).startsWith(found);
        }
    }

    @Test
    void aRowReplacedDuringASearchTakesOnePlace() throws Exception {
        try (BlockIo io = device.io(orchestrator, 256);
                MutableDiskTable table = open(io);
                BlockReads reads = io.reads()) {
            ProductCodes codes = Rows.graph(table).codes();
            long replaced = codes.id(Rows.graph(table).entry());
            float[] query = Objects.requireNonNull(table.vector(replaced));
            BeamSearch search = search(table, reads, SearchRequest.of(query, 20).effort(100));
            Step<BeamSearch, SearchResult> step = search.begin(search, CONTEXT);
            if (step instanceof Step.Park<BeamSearch, SearchResult>(Pending pending, var next)) {
                await(pending);
                step = next.step(search, CONTEXT);
            }

            // The old node is among the nearest by now.
            float[] beside = query.clone();
            beside[0] += 1e-3f;
            table.put(replaced, beside);

            assertThat(end(search, reads, step).ids())
                    .hasSize(20)
                    .doesNotHaveDuplicates()
                    .contains(replaced);
        }
    }

    @Tag("stress")
    @Test
    void aBlockReusedForAnotherPageWhileItIsReadIsReadAgainAndNotReportedAsDamaged() throws Exception {
        try (BlockIo io = device.io(orchestrator, 256);
                MutableDiskTable table = open(io);
                BlockReads reads = io.reads();
                Arena arena = Arena.ofConfined()) {
            DiskGraph graph = Rows.graph(table);
            DiskLayout layout = graph.layout();
            NodePage entry = Objects.requireNonNull(
                    graph.read(layout.pageOf(graph.entry()), arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES)));
            int[] near = entry.neighbors(graph.entry());
            int first = Arrays.stream(near)
                    .filter(node -> layout.pageOf(node) != entry.number())
                    .findFirst()
                    .orElseThrow();
            int page = layout.pageOf(first);
            int block = graph.block(page);
            float[] query = Objects.requireNonNull(table.vector(graph.codes().id(first)));
            BeamSearch search = new BeamSearch(
                    graph,
                    graph.codes(),
                    new SearchCounts(),
                    SearchRequest.of(query, 20).effort(BUILT),
                    new PageReads(8, true),
                    false,
                    reads);
            device.holdNextRead(block);
            Step<BeamSearch, SearchResult> step = search.begin(search, CONTEXT);
            await(((Step.Park<BeamSearch, SearchResult>) step).pending());
            step = ((Step.Park<BeamSearch, SearchResult>) step).next().step(search, CONTEXT);
            device.awaitHeld();

            // While the block is read for one page, two checkpoints or more give it to a page that the search comes to
            // later.
            Set<Integer> early = Arrays.stream(near).map(layout::pageOf).boxed().collect(Collectors.toSet());
            early.add(entry.number());
            for (int row = BUILT; isAt(graph, block, early); row++) {
                float[] beside = query.clone();
                beside[0] += row * 1e-4f;
                table.put(Rows.id(row), row % 2 == 0 ? beside : ROWS.vectors()[row]);
                table.checkpoint().join();
            }

            assertThat(end(search, reads, step).cost().damagedPages()).isZero();
            assertThat(table.diskStats().damagedPages()).isEmpty();
        }
    }

    /** Whether no page but some is at a block. */
    private static boolean isAt(DiskGraph graph, int block, Set<Integer> but) {
        return IntStream.range(0, graph.layout().pages(BUILT))
                .filter(page -> graph.block(page) == block)
                .allMatch(but::contains);
    }
}
