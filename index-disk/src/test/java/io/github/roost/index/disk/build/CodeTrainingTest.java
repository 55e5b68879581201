package io.github.roost.index.disk.build;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.spi.BuildWork;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CodeTrainingTest {
    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
            .build();
    private final BuildWork work = new BuildWork(orchestrator, "test");

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private static float[] components(int count) {
        return gaussian(count, new Random(5));
    }

    @Test
    void fewerRowsThanCentroidsHaveCodesThatStandForThemselves() throws IOException {
        // Parts of two components and of one.
        DiskLayout layout = new DiskLayout(5, 8, 3);
        float[] components = components(100 * 5);
        try (BuildRows rows = new BuildRows(folder.resolve("table"), 100, 5);
                ProductCodes codes = new ProductCodes(layout)) {
            rows.write(0, components);
            codes.grow(1);
            work.phase(.5, CodeTraining.steps(layout));

            codes.setCentroids(CodeTraining.run(layout, rows, work::done));

            assertThat(work.progress()).isEqualTo(.5);
            float[] distances = new float[3 * DiskLayout.CENTROIDS];
            float[] vector = new float[5];
            byte[] code = new byte[3];
            for (int row = 0; row < 100; row++) {
                rows.read(row, vector);
                codes.distances(vector, distances);
                codes.encode(distances, code, 0, 3);
                assertThat(codes.distanceOf(vector, code)).as("row " + row).isCloseTo(0, within(1e-6f));
            }
        }
    }

    @Test
    void aBuildThatIsCancelledTrainsNoFurther() throws IOException {
        DiskLayout layout = new DiskLayout(64, 8, 64);
        try (BuildRows rows = new BuildRows(folder.resolve("table"), 2_000, 64)) {
            rows.write(0, components(2_000 * 64));
            work.phase(1, CodeTraining.steps(layout));
            Thread.ofPlatform().start(() -> {
                while (work.progress() == 0) {
                    Thread.onSpinWait();
                }
                work.cancel();
            });

            assertThatThrownBy(() -> CodeTraining.run(layout, rows, work::done))
                    .isInstanceOf(CancellationException.class);
            assertThat(work.progress()).isBetween(1.0 / CodeTraining.steps(layout), .5);
        }
    }
}
