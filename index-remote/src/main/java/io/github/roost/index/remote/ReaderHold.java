package io.github.roost.index.remote;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A table's hold of the epochs that it reads: two words of the region, its owner's number and the oldest epoch with a counter that the
 * table counts up four times per lease. Space of that epoch and later ones is not used again meanwhile. A table that counts no further for
 * a lease is taken for dead: its words go to another, and it finds that out when it goes on. What it reads in between is refused by the
 * checksums, which say whose partition and which generation bytes are of.
 *
 * <p>Why no space is used again under a table that is alive: a hold is there, by compare-and-set, before the root is read that names the
 * directory, and is raised to an epoch only when nothing is read by an older one. Who makes a new epoch looks at holds after the epoch
 * is there, when it needs space of it.
 */
final class ReaderHold implements Runnable, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReaderHold.class);
    private static final int BEATS_PER_LEASE = 4;
    private static final int NONE = -1;

    private final OpenPool pool;
    private final long owner = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread beating;
    /** Number of the words; belongs to the thread once that has begun. */
    private int slot = NONE;

    private long word;

    private ReaderHold(OpenPool pool, String name) {
        this.pool = pool;
        this.beating = Thread.ofPlatform().daemon().name("roost-hold-" + name).unstarted(this);
    }

    /** Holds the pool's epoch from now on. */
    static ReaderHold of(OpenPool pool, String name) throws RemoteMemoryException {
        ReaderHold hold = new ReaderHold(pool, name);
        if (pool.region().isWritable()) {
            hold.enrol();
        }
        // What was read before the hold may be used again by now.
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

    private void enrol() throws RemoteMemoryException {
        for (int free = 0; free < PoolHead.READERS; free++) {
            if (pool.compareAndSet(ownerAt(free), 0, owner) == 0) {
                slot = free;
                // Of whoever had it before: an older epoch.
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

    /** Says that the table is alive, and which epoch is the oldest that it reads. */
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
            // A table that nobody searches goes with the epochs too, so that space becomes free.
            pool.refresh();
        } catch (RemoteMemoryException unreachable) {
            LOG.debug("a hold was not renewed", unreachable);
        }
    }

    /** Gives the hold up, after the last read. */
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
