package io.github.roost.index.remote.pool;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.PoolHead;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A table's hold on the epochs that it reads. It has two words of the region: its owner's number, and the oldest epoch in use together with a
 * counter that the table increments four times per lease. Space used in that epoch or later is not reused meanwhile. If the counter stands still
 * for a lease, the table is considered dead and its words are freed; a table that was only stopped notices that when it goes on. Bytes that it
 * reads in between are rejected by their checks, since headers and records have partition and generation.
 *
 * <p>Why no space is reused while a live table reads it: the hold is written, by compare-and-set, before the root that names the directory is
 * read. It is raised to a later epoch only when nothing is read by an older one. A writer looks at the holds after it has made a new epoch, when
 * it needs space.
 */
public final class ReaderHold implements Runnable, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReaderHold.class);
    private static final int BEATS_PER_LEASE = 4;
    private static final int NONE = -1;

    private final OpenPool pool;
    private final long owner = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread beating;
    /** Index of the two words; written by the thread once it has started. */
    private volatile int slot = NONE;
    /** How many times this hold was begun; changes before it is begun again. Written like {@link #slot}. */
    private volatile int enrolments;

    private long word;

    private ReaderHold(OpenPool pool, String name) {
        this.pool = pool;
        this.beating = Thread.ofPlatform().daemon().name("roost-hold-" + name).unstarted(this);
    }

    /** Starts to hold the pool's current epoch. */
    public static ReaderHold of(OpenPool pool, String name) throws RemoteMemoryException {
        ReaderHold hold = new ReaderHold(pool, name);
        if (pool.region().isWritable()) {
            hold.enrol();
        }
        // Space of a directory read before the hold may have been reused.
        pool.refresh();
        hold.beating.start();
        return hold;
    }

    private static long ownerAt(int slot) {
        return PoolHead.READERS_AT + (long) slot * PoolHead.READER_BYTES;
    }

    private static long wordAt(int slot) {
        return ownerAt(slot) + Long.BYTES;
    }

    /** How many times this hold was begun, or was tried to; see {@link #hasLastedSince}. */
    public int enrolments() {
        return enrolments;
    }

    /**
     * Whether this hold has been in the region all the time since {@link #enrolments} returned a number. Only this object writes its owner's number,
     * so if it is there now and was not written since, it was there all the time. Blocks.
     */
    public boolean hasLastedSince(int number) throws RemoteMemoryException {
        int held = slot;
        return held != NONE && pool.word(ownerAt(held)) == owner && enrolments == number;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes it.
    private void enrol() throws RemoteMemoryException {
        enrolments++;
        for (int free = 0; free < PoolHead.READERS; free++) {
            if (pool.compareAndSet(ownerAt(free), 0, owner) == 0) {
                slot = free;
                // The previous owner's word, with an older epoch.
                word = pool.word(wordAt(free));
                beat();
                return;
            }
        }
        LOG.warn(
                "{} has {} readers already: this one holds no epoch, and reads again where space was used again",
                pool.region().name(),
                PoolHead.READERS);
    }

    /** Increments the counter and publishes the oldest epoch in use. */
    private void beat() throws RemoteMemoryException {
        long next = pool.oldestRead() << Integer.SIZE | ((word + 1) & 0xffff_ffffL);
        long found = pool.compareAndSet(wordAt(slot), word, next);
        while (found != word) {
            word = found;
            found = pool.compareAndSet(wordAt(slot), word, next);
        }
        word = next;
    }

    @Override
    public void run() {
        long nanos = pool.head().leaseMillis() * 1_000_000L / BEATS_PER_LEASE;
        try {
            while (!closing.await(nanos, TimeUnit.NANOSECONDS)) {
                beatOrTellWhyNot();
            }
        } catch (InterruptedException e) {
            LOG.info("{} is held no longer: interrupted", pool.region().name());
        }
    }

    private void beatOrTellWhyNot() {
        try {
            if (slot != NONE) {
                if (pool.word(ownerAt(slot)) == owner) {
                    beat();
                } else {
                    LOG.info(
                            "{} took this reader for dead; it reads on",
                            pool.region().name());
                    enrol();
                }
            }
        } catch (RemoteMemoryException unreachable) {
            LOG.debug("a hold was not renewed", unreachable);
        }
        try {
            // Otherwise a beat that is older than the node's end would pass for a new one at the next search.
            pool.watch().look(pool.word(PoolHead.HEARTBEAT_AT), System.nanoTime());
            // Keeps a table without searches at the current epoch, so that older space becomes free.
            pool.refresh();
        } catch (RemoteMemoryException unreachable) {
            LOG.debug("a pool was not looked at", unreachable);
        }
    }

    /** Ends the hold; call it after the last read. */
    @Override
    public void close() {
        closing.countDown();
        boolean interrupted = false;
        while (beating.isAlive()) {
            try {
                beating.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (slot != NONE) {
            try {
                pool.compareAndSet(ownerAt(slot), owner, 0);
            } catch (RemoteMemoryException unreachable) {
                LOG.debug("a hold was left to end", unreachable);
            }
        }
    }
}
