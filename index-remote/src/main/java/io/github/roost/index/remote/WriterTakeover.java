package io.github.roost.index.remote;

/**
 * What who takes the lease over from a lost writer does first: fences it off, and gives up the space that it was filling. Used by one
 * thread at a time.
 */
final class WriterTakeover {
    private final OpenPool pool;

    WriterTakeover(OpenPool pool) {
        this.pool = pool;
    }

    /** From here on no compare-and-set of the writer that was lost, or of one before it, makes an epoch. */
    void fenceOffRoot() throws RemoteMemoryException {
        pool.replace(PoolHead.ROOT_AT, word -> Root.of(word).fenced().word());
    }

    /** And from here on none changes a log. */
    void fenceOffTails(Directory directory) throws RemoteMemoryException {
        for (int pair = 0; pair < directory.gaps().size(); pair++) {
            pool.replace(
                    PoolHead.tailsAt(pair, directory.partitions().get(2 * pair).generation()),
                    word -> LogTails.of(word).fenced().word());
        }
    }

    /** The space that a lost writer has named, unless its epoch is there, is used never again. */
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
