package io.github.roost.index.disk.update;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Pending;
import io.github.roost.io.BlockReads;

/** Work of the writer in small pieces, with waits for reads between them. Writer only, except {@link #isReady}. */
abstract class WriterJob {
    /** How a piece ended. */
    enum Progress {
        /** More work can be done now. */
        RAN,
        /** More work can be done once the {@link Pending} given to {@link #waitFor} is done. */
        WAITS,
        DONE
    }

    private final BlockReads reads;
    private final Runnable wake;
    private volatile boolean ready = true;

    /**
     * Creates a job that is ready.
     *
     * @param reads its own, closed with it
     * @param wake called by any thread when the job is ready again
     */
    WriterJob(BlockReads reads, Runnable wake) {
        this.reads = reads;
        this.wake = wake;
    }

    /** Does a piece of some microseconds. */
    abstract Progress run(SearchContext context) throws Exception;

    /** Whether a piece can be done now. */
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

    /** Called when the job is done, or will never continue. */
    void close() {
        reads.close();
    }
}
