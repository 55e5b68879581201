package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Part;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.io.BlockIo;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AttributesTest {
    private static final Schema SCHEMA = Schema.of(Column.ofText("name"), Column.ofInt("year"));
    private static final SearchResult FOUND = new SearchResult(new long[] {30, 10, 20}, new float[] {1, 2, 3});
    private static final SearchFunction<String, SearchResult> SEARCH = (query, context) -> FOUND;

    @TempDir
    Path folder;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(new Topology(
                    "test",
                    DomainLevel.L3,
                    false,
                    List.of(new CacheDomain(0, 32L << 20, List.of(0), 0, List.of(new Core(0, -1, List.of(0)))))))
            .pinner(core -> new Pinner.Result(core.pus(), List.of(), -1, false, "a made-up machine"))
            .build();
    private final MappingId id = orchestrator.register("table").id();
    private VersionedRows table;

    @BeforeEach
    void publish() throws IOException {
        table = VersionedRows.open(folder);
        try (VersionBuilder loading = table.begin(1, SCHEMA)) {
            RowWriter row = loading.writer();
            loading.put(10, row.setText(0, "ten").setInt(1, 2010));
            loading.put(30, row.setText(0, "thirty").setInt(1, 2030));
            loading.seal();
        }
        table.publish(1);
    }

    @AfterEach
    void close() {
        orchestrator.close();
        table.close();
    }

    private static void assertAnswer(Attributes.Enriched answer) {
        assertThat(answer.result()).isEqualTo(FOUND);
        RowBatch rows = answer.rows();
        assertThat(rows.size()).isEqualTo(3);
        assertThat(rows.version()).isEqualTo(1);
        assertThat(rows.getInt(0, 0)).isEqualTo(2030);
        assertThat(rows.getText(0, 1)).isEqualTo("thirty");
        assertThat(rows.getText(1, 1)).isEqualTo("ten");
        assertThat(rows.isPresent(2)).isFalse();
    }

    @Test
    void neighborsComeWithTheirRows() {
        SearchFunction<String, Attributes.Enriched> search = Attributes.after(SEARCH, table, "year", "name");
        for (int i = 0; i < 3; i++) {
            assertAnswer(orchestrator.submit(search, "any", id).join());
        }
    }

    private CompletableFuture<Attributes.Enriched> submit(Search<String, SearchResult> search) {
        return orchestrator
                .indexing()
                .submitSteps(Attributes.after(search, table, "year", "name"), "any", id, SubmitOptions.DEFAULT);
    }

    @Test
    void searchesOfSeveralSlicesDoToo() {
        assertAnswer(submit((query, context) -> new Step.Yield<>(SEARCH)).join());
        Pending pending = new Pending();
        CompletableFuture<Attributes.Enriched> parked = submit((query, context) -> new Step.Park<>(pending, SEARCH));
        pending.complete();
        assertAnswer(parked.join());
        Step<String, SearchResult> fork =
                Step.fork(List.of(new Part<>(SEARCH, "any", id), new Part<>(SEARCH, "any", id)), results -> {
                    assertThat(results).hasSize(2);
                    return FOUND;
                });
        assertAnswer(submit((query, context) -> fork).join());
    }

    @Test
    void searchesThatAreMadePerRequestHaveTheReadersOfTheirTable() {
        for (int i = 0; i < 20; i++) {
            assertAnswer(orchestrator
                    .submit(Attributes.after(SEARCH, table, "year", "name"), "any", id)
                    .join());
            assertThat(orchestrator
                            .indexing()
                            .submitSteps(table.fetch("name"), new long[] {10}, id, SubmitOptions.DEFAULT)
                            .join()
                            .getText(0, 0))
                    .isEqualTo("ten");
        }
        // One worker, of one search at a time.
        assertThat(table.readers().count()).isOne();
    }

    @Test
    void aTableThatCannotBeOpenedLeavesItsFolderFree() throws IOException {
        Path other = folder.resolve("other");
        Orchestrator closed = Orchestrator.builder().build();
        try (BlockIo io = BlockIo.builder(closed).build()) {
            closed.close();
            assertThatThrownBy(() -> VersionedRows.builder(other)
                            .valueMemory(1 << 20, closed, io)
                            .open())
                    .isInstanceOf(OrchestratorClosedException.class);
        }
        VersionedRows.open(other).close();
    }

    @Test
    void whatCannotBeReadFailsTheSearch() {
        assertThatThrownBy(() -> orchestrator
                        .submit(Attributes.after(SEARCH, table, "color"), "any", id)
                        .join())
                .hasRootCauseMessage("column must be one of [name, year], got color");
        SearchFunction<String, Attributes.Enriched> search = Attributes.after(SEARCH, table);
        orchestrator.submit(search, "any", id).join();
        table.close();
        assertThatThrownBy(() -> orchestrator.submit(search, "any", id).join())
                .hasRootCauseMessage("the table is closed");
    }
}
