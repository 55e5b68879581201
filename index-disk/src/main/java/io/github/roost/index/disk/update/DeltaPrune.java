package io.github.roost.index.disk.update;

/**
 * Chooses the edge that a full node gives up for a new one (Guo and Lu, "OdinANN", FAST 2026, "delta prune"): its neighbors were
 * pruned against each other before, so only the new node is compared with them. A node occludes another that is farther from the
 * owner if the other is nearer to it than to the owner, by a factor. The farthest occluded node goes: a neighbor that the new node
 * occludes, or the new node if a neighbor occludes it. If none is occluded, the farthest of all goes.
 */
final class DeltaPrune {
    private DeltaPrune() {}

    /**
     * The index of the node that goes.
     *
     * @param fromOwner squared distances from the owner to its neighbors and, last, to the new node
     * @param fromNew squared distances from the new node to the neighbors
     * @param alpha factor of squared distances, at least 1
     */
    static int givenUp(float[] fromOwner, float[] fromNew, float alpha) {
        int added = fromNew.length;
        int farthest = added;
        int occluded = -1;
        for (int i = 0; i < added; i++) {
            if (fromOwner[i] > fromOwner[farthest]) {
                farthest = i;
            }
            int farther = fromOwner[i] >= fromOwner[added] ? i : added;
            boolean isOccluded = fromOwner[farther] > alpha * fromNew[i];
            if (isOccluded && (occluded < 0 || fromOwner[farther] > fromOwner[occluded])) {
                occluded = farther;
            }
        }
        return occluded < 0 ? farthest : occluded;
    }
}
