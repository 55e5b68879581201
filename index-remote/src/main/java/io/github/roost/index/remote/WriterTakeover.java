package io.github.roost.index.remote;

/**
 * The first steps of a writer that takes over the lease from a lost writer: fences it off, and gives up the space that it was filling. Used by
 * one thread at a time.
 */
final class WriterTakeover {
    private final OpenPool pool;

    WriterTakeover(OpenPool pool) {
        this.pool = pool;
    }

    /** Changes the root's fence: after this no compare-and-set of an earlier writer begins an epoch. */
    void fenceOffRoot() throws RemoteMemoryException {
        pool.replace(PoolHead.ROOT_AT, word -> Root.of(word).fenced().word());
    }

    /** Changes the fence of all pairs: after this no compare-and-set of an earlier writer changes a log. */
    void fenceOffTails(Directory directory) throws RemoteMemoryException {
        for (int pair = 0; pair < directory.gaps().size(); pair++) {
            pool.replace(
                    PoolHead.tailsAt(pair, directory.partitions().get(2 * pair).generation()),
                    word -> LogTails.of(word).fenced().word());
        }
    }

    /** Marks the space that a lost writer was filling as never to be used again, unless its epoch has begun. */
    void giveUpWhatWasBeingFilled() throws RemoteMemoryException {
        long word = pool.word(PoolHead.FILLING_AT);
        if (word == 0) {
            return;
        }
        Filling filling = Filling.of(word);
        long directoryAt = pool.root().directoryAt();
        if (directoryAt < filling.at() || directoryAt >= filling.end()) {
            boolean noted = false;
            for (int i = 0; i < PoolHead.MAX_LOST && !noted; i++) {
                long found = pool.compareAndSet(lostAt(i), 0, word);
                noted = found == 0 || found == word;
            }
            if (!noted) {
                throw new RemoteMemoryException(
                        pool.region().name(),
                        "has lost space to " + PoolHead.MAX_LOST + " writers: a copy of it has that space again");
            }
        }
        pool.compareAndSet(PoolHead.FILLING_AT, word, 0);
    }

    private static long lostAt(int number) {
        return PoolHead.LOST_AT + (long) number * Long.BYTES;
    }
}
