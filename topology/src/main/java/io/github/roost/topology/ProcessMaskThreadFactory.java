package io.github.roost.topology;

import io.github.roost.topology.ffm.LinuxScheduler;
import java.util.concurrent.ThreadFactory;

/**
 * Makes threads that may run on every CPU of the process, whoever starts them. On Linux a thread inherits the mask of
 * the thread that starts it, so a pool that a pinned worker creates would crowd onto that worker's core; such a pool
 * should be given this factory. Thread-safe.
 */
public final class ProcessMaskThreadFactory implements ThreadFactory {
    private final ThreadFactory delegate;

    /** @param delegate makes the threads */
    public ProcessMaskThreadFactory(ThreadFactory delegate) {
        this.delegate = delegate;
    }

    @Override
    public Thread newThread(Runnable task) {
        return delegate.newThread(() -> {
            LinuxScheduler.instance().ifPresent(scheduler -> scheduler.bindCallingThread(scheduler.processAffinity()));
            task.run();
        });
    }
}
