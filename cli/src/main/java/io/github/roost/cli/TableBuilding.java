package io.github.roost.cli;

import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for the build of a table and shows its progress. */
final class TableBuilding {
    private static final int STEPS = 1_000;
    private static final int LOOK_MILLIS = 50;

    private TableBuilding() {}

    /** Returns the table, to be closed; an interrupt cancels the build. */
    static VectorTable await(Streams streams, TableBuild<? extends VectorTable> build, int rows)
            throws InterruptedException {
        long shown = 0;
        try (JobProgress progress =
                new JobProgress(streams, "building the index of %,d vectors".formatted(rows), STEPS)) {
            while (true) {
                try {
                    build.result().get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                    break;
                } catch (TimeoutException underWay) {
                    long done = (long) (build.progress() * STEPS);
                    progress.steps(done - shown);
                    shown = done;
                } catch (ExecutionException failed) {
                    break;
                }
            }
        } catch (InterruptedException interrupted) {
            build.cancel();
            throw interrupted;
        }
        return build.join();
    }
}
