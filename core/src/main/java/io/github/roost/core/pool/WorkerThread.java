package io.github.roost.core.pool;

/** The platform thread of a worker; a worker that dies gets another. */
final class WorkerThread extends Thread {
    private final Worker worker;

    WorkerThread(Worker worker, String name) {
        super(null, worker, name, 0, false);
        this.worker = worker;
        setDaemon(true);
    }

    Worker worker() {
        return worker;
    }
}
