package io.github.roost.index.hnsw;

import io.github.roost.core.Neighbors;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Merges what was found in the parts of a live table. Stateless. */
final class NewestOfEach {
    private NewestOfEach() {}

    /**
     * The k nearest; of several rows of one id, which a search may see while they replace each other, the one in the newest
     * list, and of those the nearest.
     *
     * @param found lists of neighbours, older rows first
     */
    static Neighbors merge(List<Neighbors> found, int k) {
        int most = found.stream().mapToInt(Neighbors::size).sum();
        long[] ids = new long[most];
        float[] distances = new float[most];
        int size = 0;
        Set<Long> seen = HashSet.newHashSet(most);
        for (Neighbors part : found.reversed()) {
            for (int i = 0; i < part.size(); i++) {
                if (seen.add(part.ids()[i])) {
                    ids[size] = part.ids()[i];
                    distances[size++] = part.distances()[i];
                }
            }
        }
        Neighbors sorted = Neighbors.sorted(Arrays.copyOf(ids, size), Arrays.copyOf(distances, size));
        return size <= k ? sorted : new Neighbors(Arrays.copyOf(sorted.ids(), k), Arrays.copyOf(sorted.distances(), k));
    }

    /**
     * Whether rows of one id took the places of others, so that rows may be missing: a list that was full says nothing of
     * rows farther than its last, and with that id counted once there are fewer than k up to there. Not where every row of
     * every part was wanted: then there is no more to find.
     *
     * @param wanted how many rows were looked for in each part, at least k
     * @param mostRows how many rows, dead ones among them, the largest part has
     */
    static boolean isShort(Neighbors merged, List<Neighbors> found, int k, int wanted, int mostRows) {
        return wanted < mostRows
                && found.stream().anyMatch(part -> part.size() >= wanted && hidesNearer(part, merged, k));
    }

    /** Whether rows farther than the last of a part's may be nearer than the k-th of the merged ones. */
    private static boolean hidesNearer(Neighbors part, Neighbors merged, int k) {
        return merged.size() < k || merged.distances()[k - 1] > part.distances()[part.size() - 1];
    }
}
