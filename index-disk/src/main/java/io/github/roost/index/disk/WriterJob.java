package io.github.roost.index.disk;

import io.github.roost.core.io.BlockReads;
import io.github.roost.core.task.Pending;
import io.github.roost.core.task.SearchContext;

/** Work of the writer in small pieces, which waits for reads in between. The writer's alone, but for {@link #isReady}. */
abstract class WriterJob {
    /** How a piece ended. */
    enum Progress {
        /** There is more that can be done now. */
        RAN,
        /** There is more once what was given to {@link #waitFor} is there. */
        WAITS,
        DONE
    }

    private final BlockReads reads;
    private final Runnable wake;
    private volatile boolean ready = true;

    /**
     * Begins.
     *
     * @param reads its own, closed with it
     * @param wake called when it is ready again, by any thread
     */
    WriterJob(BlockReads reads, Runnable wake) {
        this.reads = reads;
        this.wake = wake;
    }

    /** Does a piece of some microseconds. */
    abstract Progress run(SearchContext context) throws Exception;

    /** Whether there is anything to do now. */
    boolean isReady() {
        return ready;
    }

    Progress waitFor(Pending pending) {
        ready = false;
        boolean waits = pending.await(() -> {
            ready = true;
            wake.run();
        });
        if (!waits) {
            ready = true;
        }
        return Progress.WAITS;
    }

    BlockReads reads() {
        return reads;
    }

    /** It is over, or will never go on. */
    void close() {
        reads.close();
    }
}
