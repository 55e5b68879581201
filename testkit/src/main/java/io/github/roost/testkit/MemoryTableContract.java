package io.github.roost.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFullException;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import org.junit.jupiter.api.Test;

/**
 * What an index promises besides {@link VectorTableContract} whose rows are all in memory: its builds have a limit too, and it is built of arrays
 * and searched in the calling thread.
 *
 * @param <T> the type of the tables
 */
public abstract class MemoryTableContract<T extends VectorTable & MemoryLimited> extends VectorTableContract<T> {
    /** Begins to build a table with a memory limit. */
    protected abstract TableBuild<? extends T> startLimited(
            Orchestrator places, long[] ids, VectorSource rows, long limit);

    @Override
    protected abstract T build(Orchestrator places, Metric metric);

    @Override
    protected abstract SearchFunction<float[], SearchResult> searchInTheCaller(T table, int k, int effort);

    @Test
    void aBuildThatExceedsItsLimitOnlyAtItsEndFailsItsFuture() {
        long bytes;
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            bytes = table.bytes();
        }
        TableBuild<? extends T> build = startLimited(orchestrator, ids(), VectorSource.of(VECTORS), bytes - 1);
        assertThatThrownBy(build::join).isInstanceOf(TableFullException.class);
        assertThatThrownBy(() -> build.result().join()).hasCauseInstanceOf(TableFullException.class);
    }

    @Test
    void aBuildWhoseRowsAloneExceedItsLimitIsRefusedAtOnce() {
        assertThatThrownBy(() -> startLimited(orchestrator, ids(), VectorSource.of(VECTORS), (long) ROWS * DIMENSION))
                .isInstanceOf(TableFullException.class);
    }
}
