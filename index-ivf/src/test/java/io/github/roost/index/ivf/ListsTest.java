package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.spi.BuildWork;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ListsTest {
    @Test
    void aCancelledBuildRecordsNoMoreRows() {
        CoarseQuantizer quantizer = new CoarseQuantizer(ScanKernels.preferred(), new float[][] {{0, 0}, {9, 9}});
        long[] ids = LongStream.range(0, 1_000).toArray();
        AtomicInteger recorded = new AtomicInteger();
        try (Orchestrator orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .build()) {
            BuildWork work = new BuildWork(orchestrator, "build");
            try (RowMap locations = new RowMap(ids.length) {
                @Override
                public long put(long id, int list, int place) {
                    if (recorded.incrementAndGet() == 10) {
                        work.cancel();
                    }
                    return super.put(id, list, place);
                }
            }) {
                RowLayout layout = RowLayout.ofFloats(2);
                assertThatThrownBy(() -> Lists.build(
                                quantizer,
                                new int[ids.length],
                                work,
                                row -> new float[] {row, row},
                                ids,
                                layout,
                                List.of(),
                                locations))
                        .isInstanceOf(CancellationException.class);
            }
        }
        assertThat(recorded).hasValue(10);
    }
}
