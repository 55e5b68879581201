package io.github.roost.documents;

import io.github.roost.core.Orchestrator;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The orchestrator of the process, for all stores that are given none: started with the first, closed with the last. */
final class SharedOrchestrator {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static @Nullable Orchestrator running;
    private static int users;

    private SharedOrchestrator() {}

    static Orchestrator acquire() {
        LOCK.lock();
        try {
            Orchestrator shared = running;
            if (shared == null) {
                shared = Orchestrator.builder().build();
                running = shared;
            }
            users++;
            return shared;
        } finally {
            LOCK.unlock();
        }
    }

    static void release() {
        LOCK.lock();
        try {
            if (--users == 0 && running != null) {
                running.close();
                running = null;
            }
        } finally {
            LOCK.unlock();
        }
    }
}
