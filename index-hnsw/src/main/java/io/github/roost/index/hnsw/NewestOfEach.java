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
     * The k nearest; of several rows of one id, of which a search that runs while it is replaced may see two, the newest.
     *
     * @param found one list a part, older rows first
     */
    static Neighbors merge(List<Neighbors> found, int k) {
        if (found.size() == 1) {
            return found.getFirst();
        }
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
}
