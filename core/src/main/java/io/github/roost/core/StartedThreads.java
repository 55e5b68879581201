package io.github.roost.core;

import io.github.roost.topology.Topology;
import io.github.roost.topology.system.InheritedCpus;
import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A daemon thread that gives the threads that workers have started all CPUs of the process: it looks once a second. Callbacks run on workers, and
 * executors start their threads in the thread that submits: each would stay on one worker's core. Workers do not restore masks themselves,
 * since that would cost every search two system calls. Threads are listed only if the JVM has started some since the last time.
 */
final class StartedThreads implements Runnable, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StartedThreads.class);
    private static final long INTERVAL_NANOS = 1_000_000_000;

    private final Optional<InheritedCpus> threads;
    private final Thread thread;
    private volatile boolean closed;

    /** The number of threads that the JVM had started before the last look; workers that have run nothing have started none. */
    private long seen;

    /** @param pins whether workers are pinned; otherwise {@link #start} has no effect */
    StartedThreads(Topology topology, boolean pins) {
        this.threads = pins ? InheritedCpus.of(topology) : Optional.empty();
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("roost-threads")
                .inheritInheritableThreadLocals(false)
                .unstarted(this);
    }

    /** Called when the workers have started. */
    void start() {
        if (threads.isPresent()) {
            seen = startedThreads() + 1;
            thread.start();
        }
    }

    @Override
    public void run() {
        do {
            LockSupport.parkNanos(this, INTERVAL_NANOS);
            try {
                look();
            } catch (RuntimeException | Error failed) {
                warn(failed);
            }
        } while (!closed);
    }

    private void look() {
        // Read before the threads are listed: a thread that starts meanwhile is seen at the next look.
        long started = startedThreads();
        if (started != seen) {
            seen = started;
            int restored = threads.orElseThrow().restore();
            if (restored > 0) {
                LOG.info("{} threads that pinned threads have started may use all CPUs again", restored);
            }
        }
    }

    private static long startedThreads() {
        return ManagementFactory.getThreadMXBean().getTotalStartedThreadCount();
    }

    private static void warn(Throwable failed) {
        try {
            LOG.warn("threads that workers have started may stay on one core", failed);
        } catch (RuntimeException | Error noMemoryToLog) {
            // Rethrown, it would end this thread.
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}
