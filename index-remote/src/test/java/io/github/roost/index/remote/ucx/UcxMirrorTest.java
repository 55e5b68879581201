package io.github.roost.index.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.MutableRemoteTable;
import io.github.roost.index.remote.Pools;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteTable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A pool that two nodes expose over UCX; skipped where UCX cannot be loaded. */
@Tag("stress")
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UcxMirrorTest {
    private static final int PARTITIONS = 4;

    @Test
    @SuppressWarnings("try") // closed early on purpose
    void afterTheLossOfEitherNodeTheOtherHasAllChanges(@TempDir Path folder) throws Exception {
        assumeTrue(
                UcxMemory.unavailable().isEmpty(), () -> UcxMemory.unavailable().orElse(""));
        float[][] others = Pools.rows(40, 2);
        RemoteMemory memory = new UcxMemory("tcp");
        for (boolean losesFirst : new boolean[] {true, false}) {
            Path first = folder.resolve("first-" + losesFirst);
            Path second = folder.resolve("second-" + losesFirst);
            try (Orchestrator orchestrator = Pools.orchestrator()) {
                Pools.buildSmall(orchestrator, PARTITIONS, first);
                Files.copy(first, second);
                try (UcxNode one = UcxNode.serve(first, "ucx://127.0.0.1:0", "tcp");
                        UcxNode two = UcxNode.serve(second, "ucx://127.0.0.1:0", "tcp");
                        MutableRemoteTable table = RemoteTable.builder()
                                .open(
                                        orchestrator,
                                        "both",
                                        RemoteTable.mirrored(memory, memory, two.address()),
                                        one.address())) {
                    for (int i = 0; i < others.length; i++) {
                        assertThat(table.put(9_000 + i, others[i])).isTrue();
                    }
                    assertThat(table.rebuild(0)).isTrue();
                    assertThat(table.remove(9_000)).isTrue();
                    (losesFirst ? one : two).close();
                    assertThatThrownBy(() -> table.put(9_100, others[0])).isInstanceOf(UncheckedIOException.class);
                    assertThat(table.search(others[1], 1, PARTITIONS).join().ids())
                            .containsExactly(9_001);
                    try (MutableRemoteTable alone = RemoteTable.builder()
                            .open(
                                    orchestrator,
                                    "alone",
                                    RemoteTable.alone(memory),
                                    (losesFirst ? two : one).address())) {
                        assertThat(alone.put(9_200, others[0])).isTrue();
                        for (int i = 1; i < others.length; i++) {
                            assertThat(alone.vector(9_000 + i)).isEqualTo(others[i]);
                        }
                        assertThat(alone.vector(9_000)).isNull();
                        alone.verify();
                    }
                }
            }
        }
    }
}
