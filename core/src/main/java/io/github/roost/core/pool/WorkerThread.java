package io.github.roost.core.pool;

import io.github.roost.core.task.WaitingThread;
import java.util.concurrent.Future;

/** The platform thread of a {@link Runner}; when that has ended, it may run another. */
final class WorkerThread extends WaitingThread {
    private final WorkerPool pool;
    private volatile Runner runner;
    /** Whether it has no runner and waits for one. */
    private volatile boolean isSpare;

    WorkerThread(WorkerPool pool, Runner runner) {
        super("roost-worker");
        this.pool = pool;
        this.runner = runner;
        setDaemon(true);
        setContextClassLoader(WorkerThread.class.getClassLoader());
    }

    Runner runner() {
        return runner;
    }

    @Override
    protected void beforeWait(Future<?> future) {
        runner.beforeWait(future);
    }

    @Override
    public void run() {
        Runner next = runner;
        while (next != null) {
            runner = next;
            setName("roost-worker-" + next.worker().domain + "." + next.worker().index);
            next.run(this);
            isSpare = true;
            next = pool.ended(next, this);
            isSpare = false;
        }
    }

    /** Ends the wait of a spare thread for another runner. */
    void endSpare() {
        if (isSpare) {
            interrupt();
        }
    }
}
