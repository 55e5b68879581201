package io.github.roost.testkit.opensearch;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009) of searches whose scores have no common scale. Stateless. */
public final class RankFusion {
    private static final int CONSTANT = 60;

    private RankFusion() {}

    /**
     * Fuses rankings.
     *
     * @param rankings ids of hits, best first
     * @param max maximum number of ids to return
     * @return ids by descending sum of 1 / (60 + rank), ties in the order of the rankings
     */
    public static List<String> fuse(List<List<String>> rankings, int max) {
        Map<String, Double> scores = new LinkedHashMap<>();
        for (List<String> ranking : rankings) {
            for (int i = 0; i < ranking.size(); i++) {
                scores.merge(ranking.get(i), 1. / (CONSTANT + i + 1), Double::sum);
            }
        }
        return scores.entrySet().stream()
                .sorted(Comparator.comparingDouble(entry -> -entry.getValue()))
                .limit(max)
                .map(Map.Entry::getKey)
                .toList();
    }
}
