package io.github.roost.topology;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import java.util.concurrent.ThreadFactory;

/**
 * Makes threads that may run on all CPUs of the process, in slices of its usual length, whichever thread starts them.
 *
 * <p>On Linux a thread inherits the affinity mask and the {@linkplain TimeSlice time slice} of the one that starts it: a
 * thread that a pinned worker starts would share the worker's core for good, and one that it starts amid batch work
 * would keep the long slice of that. User code that starts threads from a search function uses this factory. A thread
 * whose mask cannot be restored runs with the inherited one, and one WARN says so. Thread-safe.
 */
public final class ProcessMaskThreadFactory implements ThreadFactory {
    private final ThreadFactory threads;

    /**
     * Wraps a factory.
     *
     * @param threads makes the threads, which must be platform threads; virtual ones are left as they are
     */
    public ProcessMaskThreadFactory(ThreadFactory threads) {
        this.threads = threads;
    }

    @Override
    public Thread newThread(Runnable task) {
        return threads.newThread(() -> {
            if (!Thread.currentThread().isVirtual()) {
                restore();
            }
            task.run();
        });
    }

    private static void restore() {
        try {
            LinuxScheduler scheduler = LinuxScheduler.open();
            int errno = scheduler.bindThread(scheduler.processMask());
            if (errno != 0) {
                Warnings.once("restore", "a thread keeps the CPUs it inherited, errno " + errno);
            }
            long usual = scheduler.processTimeSlice();
            if (usual > 0 && usual != scheduler.timeSlice()) {
                scheduler.setTimeSlice(usual);
            }
        } catch (NativeUnavailableException neverPinned) {
            // Without masks there are no pinned threads to inherit from, and no long slices.
        }
    }
}
