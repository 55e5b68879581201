package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Remaps;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two tables on disk on a made-up machine of two cache domains with a core each: each has a home, and is searched there. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DiskHomesTest {
    private static final int COUNT = 1_000;
    private static final int SEARCHES = 20;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, COUNT, 24, 17);

    @TempDir
    private Path folder;

    private final Remaps remaps = new Remaps();

    private final Orchestrator orchestrator = remaps.machine(0);
    private final BlockIo io = BlockIo.builder(orchestrator).build();

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
        io.close();
    }

    private MutableDiskTable table(String name) throws IOException {
        Path file = folder.resolve(name);
        DiskTable.builder().build(orchestrator, io, file, ROWS.ids(), ROWS.vectors());
        return DiskTable.open(orchestrator, io, name, file);
    }

    private int home(DiskTable table) {
        return orchestrator.homes(table.mappingId()).getFirst();
    }

    /** The domains whose workers ran searches of a table. */
    private static Set<Integer> searched(DiskTable table) throws Exception {
        Set<String> threads = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < SEARCHES; i++) {
            table.search(SearchRequest.of(ROWS.query(i), 10).effort(50).filter(IdFilter.of(id -> {
                        threads.add(Thread.currentThread().getName());
                        return true;
                    })))
                    .get();
        }
        return threads.stream()
                .map(name -> Integer.parseInt(name.replaceFirst("roost-worker-(\\d+)\\.\\d+", "$1")))
                .collect(Collectors.toSet());
    }

    @Test
    void twoTablesHaveHomesOfTheirOwnAndAreSearchedThereAlsoAfterOneHasMoved() throws Exception {
        try (MutableDiskTable one = table("one");
                MutableDiskTable other = table("other")) {
            assertThat(home(one)).isNotEqualTo(home(other));
            assertThat(searched(one)).containsExactly(home(one));
            assertThat(searched(other)).containsExactly(home(other));

            int both = home(other);
            remaps.move(orchestrator, one.mappingId(), both);

            assertThat(home(one)).isEqualTo(both);
            assertThat(searched(one)).containsExactly(both);
            assertThat(searched(other)).containsExactly(both);
        }
    }

    @Test
    void whatSearchesOfEachTableTouchIsCountedByTierAndIsItsTraffic() throws Exception {
        try (MutableDiskTable one = table("one");
                MutableDiskTable other = table("other")) {
            searched(one);
            orchestrator.indexing().endWindow();

            DiskTable.Stats.Traffic traffic = one.diskStats().traffic();
            assertThat(traffic.codes())
                    .isEqualTo(one.diskStats().codesCompared()
                            * one.graph().layout().codeBytes())
                    .isPositive();
            assertThat(traffic.device() + traffic.pageCache())
                    .isEqualTo(one.diskStats().pagesRead() * DiskLayout.PAGE_BYTES)
                    .isPositive();
            assertThat(traffic.changedPages()).isZero();
            assertThat(orchestrator.indexing().trafficBytes(one.registration()))
                    .containsExactly(traffic.codes() + traffic.device() + traffic.pageCache());
            assertThat(orchestrator.indexing().trafficBytes(other.registration()))
                    .containsExactly(0);

            // On a page that has changed: it is in memory until the next checkpoint.
            assertThat(other.put(Rows.id(0), ROWS.vectors()[1])).isFalse();
            searched(other);
            assertThat(other.diskStats().traffic().changedPages()).isPositive();
            assertThat(one.diskStats().traffic()).isEqualTo(traffic);
        }
    }
}
