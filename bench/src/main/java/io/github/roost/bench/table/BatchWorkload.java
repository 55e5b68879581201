package io.github.roost.bench.table;

import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The keys of the stores, and the keys to fetch. Reproducible from a seed, so that a separate process measures the same.
 *
 * @param keys of all rows
 * @param wanted keys of a turn
 */
record BatchWorkload(long[] keys, long[] wanted) {
    /** Bytes of a value, as in the paper. */
    static final int VALUE_BYTES = 1_024;
    /** Keys per turn, whatever the batch size. */
    private static final int WANTED = 50_000;

    private static final long SEED = 28;

    static BatchWorkload of(int rows) {
        SplittableRandom random = new SplittableRandom(SEED);
        long[] keys = random.longs().distinct().limit(rows).toArray();
        long[] wanted = new long[WANTED];
        for (int i = 0; i < WANTED; i++) {
            wanted[i] = keys[random.nextInt(rows)];
        }
        return new BatchWorkload(keys, wanted);
    }

    /** Throws an IllegalStateException if the store has other values. */
    void require(BatchStore store) throws IOException {
        for (int i = 0; i < keys.length; i++) {
            if (store.fetch(keys, i, 1) != keys[i]) {
                throw new IllegalStateException(store.name() + " has another value of key " + keys[i]);
            }
        }
    }

    /** Runs one turn of a store; returns the median time of its batches in microseconds. */
    double medianMicros(BatchStore store, int batch) throws IOException {
        double[] micros = new double[wanted.length / batch];
        for (int i = 0; i < micros.length; i++) {
            long begin = System.nanoTime();
            long sum = store.fetch(wanted, i * batch, batch);
            micros[i] = (System.nanoTime() - begin) / 1e3;
            if (sum == 42) {
                throw new IllegalStateException("impossible sum: 42");
            }
        }
        Arrays.sort(micros);
        return micros[micros.length / 2];
    }
}
