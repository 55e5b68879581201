package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.indexing.BuildWork;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.topology.TopologyReader;
import org.junit.jupiter.api.Test;

class KMeansTest {
    /** All rows are in one list then, whose centroid is halved for the others. */
    @Test
    void centroidsOfEqualRowsOfTheLargestFloatsAreNumbers() {
        float[] row = {Float.MAX_VALUE, -Float.MAX_VALUE, Float.MAX_VALUE, 1};
        try (Orchestrator orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .build()) {
            KMeans training = new KMeans(ScanKernels.preferred(), new BuildWork(orchestrator, "training"));
            for (float[] centroid : training.train(ordinal -> row, 50, 5, 1)) {
                for (float component : centroid) {
                    assertThat(component).isFinite();
                }
            }
        }
    }
}
