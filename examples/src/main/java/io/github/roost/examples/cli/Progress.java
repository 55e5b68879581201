package io.github.roost.examples.cli;

import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** Shows on standard error how far a job is: a bar for a person at a terminal, a line at its start else. */
public final class Progress implements AutoCloseable {
    private static final int WIDTH = 80;
    private static final int UPDATE_MILLIS = 100;

    private final @Nullable ProgressBar bar;

    /**
     * @param job what is being done
     * @param steps number of steps
     */
    public Progress(Streams streams, String job, long steps) {
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

    /** Some more steps are done. Thread-safe. */
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
