package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats.TableStats;
import io.github.roost.topology.TopologyReader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.opensearch.cluster.metadata.MetadataCreateIndexService;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.indices.InvalidIndexNameException;

class SliceExecutorTest {
    @Test
    void noIndexCanHaveTheNameOfTheSlicesInStatistics() {
        try (Orchestrator orchestrator = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1")
                                .read())
                        .build();
                ExecutorService pool = Executors.newSingleThreadExecutor()) {
            SliceExecutor slices = new SliceExecutor(
                    orchestrator, pool, new ThreadContext(Settings.EMPTY), RoostSettings.Slices.ROOST);
            assertThat(orchestrator.stats().tables())
                    .extracting(TableStats::name)
                    .containsOnly(SliceExecutor.NAME);
            slices.shutdown();
        }
        assertThat(isIndexName("slices")).isTrue();
        assertThat(isIndexName(SliceExecutor.NAME)).isFalse();
    }

    private static boolean isIndexName(String name) {
        try {
            MetadataCreateIndexService.validateIndexOrAliasName(name, InvalidIndexNameException::new);
            return true;
        } catch (InvalidIndexNameException refused) {
            return false;
        }
    }
}
