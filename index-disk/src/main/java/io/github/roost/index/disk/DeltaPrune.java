package io.github.roost.index.disk;

/**
 * Which edge a full node gives up for a new one (Guo and Lu, "OdinANN", FAST 2026, "delta prune"): its neighbours have been chosen
 * among each other before, so only the new node is compared with them. One node occludes another that is farther from the owner where
 * the other is nearer to it than to the owner, by a factor. The farthest that the new node occludes goes, or the new node itself
 * where a neighbour occludes it; where there is no such, the farthest of all.
 */
final class DeltaPrune {
    private DeltaPrune() {}

    /**
     * The index of the one that goes.
     *
     * @param fromOwner squared distances of the neighbours from the node whose they are, and at the end that of the new node
     * @param fromNew squared distances of the neighbours from the new node
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
