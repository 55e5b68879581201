package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;

/** Sample queries with their true neighbours, to measure what a number of probed lists finds. Used by one thread. */
final class RecallSample {
    private final IvfTable table;
    private final float[][] queries;
    private final int k;
    /** Distance of the last true neighbour of each query: what is no farther is found rightly. */
    private final float[] reach;

    private long truths;

    /** Finds the true neighbours by probing all lists. */
    RecallSample(IvfTable table, float[][] queries, int k) {
        this.table = table;
        this.queries = queries;
        this.k = k;
        this.reach = new float[queries.length];
        for (int query = 0; query < queries.length; query++) {
            Neighbors truth = table.search(queries[query], k, table.nlist()).join();
            truths += truth.size();
            reach[query] = truth.size() == 0 ? 0 : truth.distances()[truth.size() - 1];
        }
    }

    /** Share of true neighbours that searches of so many lists find, from 0 to 1. */
    double recall(int nprobe) {
        long hits = 0;
        for (int query = 0; query < queries.length; query++) {
            for (float distance : table.search(queries[query], k, nprobe).join().distances()) {
                hits += distance <= reach[query] ? 1 : 0;
            }
        }
        return truths == 0 ? 1 : (double) hits / truths;
    }

    /** The fewest lists that reach a recall; more lists never find less. */
    int fewest(double target) {
        int tooFew = 0;
        int enough = table.nlist();
        while (enough - tooFew > 1) {
            int middle = (tooFew + enough) >>> 1;
            if (recall(middle) < target) {
                tooFew = middle;
            } else {
                enough = middle;
            }
        }
        return enough;
    }
}
