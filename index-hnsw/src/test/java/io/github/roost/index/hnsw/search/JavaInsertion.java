package io.github.roost.index.hnsw.search;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.IntStream;

/** Insertion as Malkov and Yashunin write it down (algorithms 1, 2 and 4), by one thread: what the native one is compared with. */
final class JavaInsertion {
    private record Near(float distance, int node) {
        static final Comparator<Near> NEAREST_FIRST =
                Comparator.comparingDouble(Near::distance).thenComparingInt(Near::node);
    }

    /** As in insert_body.h. */
    private static final int MAX_FILLING = 128;

    private final float[][] rows;
    private final int[] levelCounts;
    private final int m;
    private final int width;
    private final float maxCover;
    /** By layer and node. */
    private final List<List<List<Near>>> links = new ArrayList<>();

    JavaInsertion(float[][] rows, int[] levelCounts, int m, int width, float maxCover) {
        this.rows = rows;
        this.levelCounts = levelCounts;
        this.m = m;
        this.width = width;
        this.maxCover = maxCover;
        for (int level = 0; level <= levelCounts.length; level++) {
            int nodes = level == 0 ? rows.length : levelCounts[level - 1];
            links.add(IntStream.range(0, nodes)
                    .<List<Near>>mapToObj(node -> new ArrayList<>())
                    .toList());
        }
    }

    static float distance(float[] a, float[] b) {
        float sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (a[i] - b[i]) * (a[i] - b[i]);
        }
        return sum;
    }

    private Near near(int node, int other) {
        return new Near(distance(rows[node], rows[other]), other);
    }

    void insert(int node) {
        if (node == 0) {
            return;
        }
        int top = (int) IntStream.of(levelCounts).filter(count -> node < count).count();
        Near entry = near(node, 0);
        for (int level = levelCounts.length; level > top; level--) {
            entry = search(node, entry, level, 1).getFirst();
        }
        List<List<Near>> picked = new ArrayList<>();
        for (int level = top; level >= 0; level--) {
            List<Near> found = search(node, entry, level, width);
            picked.addFirst(choose(found, level == 0 ? 2 * m : m, MAX_FILLING));
            entry = found.getFirst();
        }
        for (int level = 0; level <= top; level++) {
            links.get(level).get(node).addAll(picked.get(level));
            for (Near other : picked.get(level)) {
                List<Near> list = links.get(level).get(other.node());
                list.add(new Near(other.distance(), node));
                int kept = level == 0 ? 2 * m : m;
                if (list.size() > kept + Math.max(1, kept / 4)) {
                    chooseAgain(list, kept);
                }
            }
        }
    }

    void trim() {
        for (int level = 0; level < links.size(); level++) {
            int kept = level == 0 ? 2 * m : m;
            links.get(level).stream().filter(list -> list.size() > kept).forEach(list -> chooseAgain(list, kept));
        }
    }

    private void chooseAgain(List<Near> list, int kept) {
        List<Near> sorted = list.stream().sorted(Near.NEAREST_FIRST).toList();
        list.clear();
        list.addAll(choose(sorted, kept, sorted.size()));
    }

    private List<Near> search(int node, Near entry, int level, int max) {
        PriorityQueue<Near> candidates = new PriorityQueue<>(Near.NEAREST_FIRST);
        PriorityQueue<Near> found = new PriorityQueue<>(Near.NEAREST_FIRST.reversed());
        Set<Integer> visited = new HashSet<>(Set.of(entry.node()));
        candidates.add(entry);
        found.add(entry);
        while (!candidates.isEmpty()
                && !(found.size() == max && Near.NEAREST_FIRST.compare(candidates.peek(), found.peek()) > 0)) {
            for (Near neighbor : links.get(level).get(candidates.poll().node())) {
                if (visited.add(neighbor.node())) {
                    Near next = near(node, neighbor.node());
                    candidates.add(next);
                    found.add(next);
                    if (found.size() > max) {
                        found.poll();
                    }
                }
            }
        }
        return found.stream().sorted(Near.NEAREST_FIRST).toList();
    }

    /** By the heuristic; then those of the nearest {@code filling} that are covered least, one after the other. */
    private List<Near> choose(List<Near> nearestFirst, int max, int filling) {
        List<Near> chosen = new ArrayList<>();
        for (Near candidate : nearestFirst) {
            if (chosen.size() < max
                    && chosen.stream()
                            .noneMatch(other ->
                                    near(other.node(), candidate.node()).distance() < candidate.distance())) {
                chosen.add(candidate);
            }
        }
        List<Near> left = new ArrayList<>(nearestFirst.subList(0, Math.min(filling, nearestFirst.size())));
        left.removeAll(chosen);
        while (chosen.size() < max && !left.isEmpty()) {
            Near least = left.stream()
                    .min(Comparator.comparingDouble(candidate -> cover(candidate, chosen)))
                    .orElseThrow();
            if (cover(least, chosen) > maxCover) {
                break;
            }
            left.remove(least);
            chosen.add(least);
        }
        return chosen;
    }

    /** How much nearer a candidate is to a chosen node than to the one whose neighbors are chosen. */
    private float cover(Near candidate, List<Near> chosen) {
        float nearest = (float) chosen.stream()
                .mapToDouble(other -> near(other.node(), candidate.node()).distance())
                .min()
                .orElseThrow();
        return nearest > 0 ? candidate.distance() / nearest : Float.POSITIVE_INFINITY;
    }

    /** Neighbors nearest first, layer by layer. */
    List<List<Integer>> lists() {
        return links.stream()
                .flatMap(List::stream)
                .map(list ->
                        list.stream().sorted(Near.NEAREST_FIRST).map(Near::node).toList())
                .toList();
    }
}
