package io.github.roost.core.pool;

import io.github.roost.core.pool.Task.Outcome;
import java.util.function.BiConsumer;

/** The context of a task that runs in its submitter's thread because the rings were full. */
public final class CallerContext extends TaskContext {
    private final BiConsumer<TaskContext, Outcome> books;

    /** @param books told of the outcome, once */
    public CallerContext(Task task, long startNanos, BiConsumer<TaskContext, Outcome> books) {
        super(task, startNanos);
        this.books = books;
    }

    @Override
    public int worker() {
        return -1;
    }

    @Override
    public int domain() {
        return -1;
    }

    /** The bytes that the run has touched. */
    public long touchedBytes() {
        return bytes();
    }

    @Override
    public void finished(Outcome outcome) {
        books.accept(this, outcome);
    }
}
