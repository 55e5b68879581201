package io.github.roost.core.task;

import java.util.concurrent.Future;

/** A thread that runs tasks, and must be told before one of them waits. */
public abstract class WaitingThread extends Thread {
    /** @param name the name of the thread, which starts with no inherited thread locals */
    protected WaitingThread(String name) {
        super(null, null, name, 0, false);
    }

    /** Called in this thread before it waits for a future: may run what the future waits for. */
    protected abstract void beforeWait(Future<?> future);
}
