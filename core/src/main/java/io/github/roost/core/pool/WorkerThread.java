package io.github.roost.core.pool;

/** The platform thread of a {@link Runner}; when that has ended, it may run another. */
final class WorkerThread extends Thread {
    private final WorkerPool pool;
    private volatile Runner runner;
    /** Whether it has no runner and waits for one. */
    private volatile boolean isSpare;

    WorkerThread(WorkerPool pool, Runner runner) {
        super(null, null, "roost-worker", 0, false);
        this.pool = pool;
        this.runner = runner;
        setDaemon(true);
        setContextClassLoader(WorkerThread.class.getClassLoader());
    }

    Runner runner() {
        return runner;
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
