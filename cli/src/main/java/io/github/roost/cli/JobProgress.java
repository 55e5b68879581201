package io.github.roost.cli;

import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** Shows the progress of a job on standard error: a bar on a terminal, otherwise one line at the start. */
public final class JobProgress implements AutoCloseable {
    private static final int WIDTH = 80;
    private static final int UPDATE_MILLIS = 100;

    private final @Nullable ProgressBar bar;

    /**
     * @param job description of the job
     * @param steps number of steps
     */
    public JobProgress(Streams streams, String job, long steps) {
        if (streams.terminal()) {
            this.bar = new ProgressBarBuilder()
                    .setTaskName(job)
                    .setInitialMax(steps)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setUpdateIntervalMillis(UPDATE_MILLIS)
                    .setConsumer(new ConsoleProgressBarConsumer(streams.err(), WIDTH))
                    .build();
        } else {
            this.bar = null;
            streams.err().println(job);
        }
    }

    /** Adds finished steps. Thread-safe. */
    public void steps(long more) {
        if (bar != null) {
            bar.stepBy(more);
        }
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}
