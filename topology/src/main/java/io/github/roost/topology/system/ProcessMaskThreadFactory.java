package io.github.roost.topology.system;

import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import java.util.concurrent.ThreadFactory;

/**
 * Makes threads with the process's affinity mask and default time slice, whichever thread starts them.
 *
 * <p>On Linux a thread inherits the affinity mask and the {@linkplain TimeSlice time slice} of the thread that starts it: a
 * thread started by a pinned worker would share the worker's core for good, and a thread started during batch work would
 * keep the long slice of batch work. User code that starts threads from a search function should use this factory. If a
 * thread's mask cannot be restored, it runs with the inherited mask, and one WARN says so. Thread-safe if the wrapped factory
 * is.
 */
public final class ProcessMaskThreadFactory implements ThreadFactory {
    private final ThreadFactory threads;

    /**
     * Wraps a factory.
     *
     * @param threads makes the threads; masks and slices are restored for platform threads only, virtual threads are left as
     *     they are
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
            // Without access to masks there are no pinned threads and no long slices to inherit.
        }
    }
}
