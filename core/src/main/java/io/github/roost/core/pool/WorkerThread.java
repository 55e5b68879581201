package io.github.roost.core.pool;

/** The platform thread of a worker. */
final class WorkerThread extends Thread {
    private final Runner runner;

    WorkerThread(Runner runner, String name) {
        super(null, runner, name, 0, false);
        this.runner = runner;
        setDaemon(true);
    }

    Runner runner() {
        return runner;
    }
}
