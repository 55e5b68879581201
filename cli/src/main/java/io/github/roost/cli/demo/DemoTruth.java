package io.github.roost.cli.demo;

import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.testkit.packages.DebianPackages.Section;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The ground truth for queries of the demo, by exact search: for all among their section, for a sample among all packages. Immutable. */
final class DemoTruth {
    /** Number of queries borrowed from other sections for a section without queries of its own. */
    private static final int BORROWED = 50;
    /** One query in so many is in the sample: an exact search among all packages reads 32 MB. */
    private static final int SAMPLED = 20;

    private final List<int[]> queriesOfSection;
    private final @Nullable SearchResult[] amongAll;
    private final List<SearchResult[]> amongSection;

    private DemoTruth(
            List<int[]> queriesOfSection, @Nullable SearchResult[] amongAll, List<SearchResult[]> amongSection) {
        this.queriesOfSection = queriesOfSection;
        this.amongAll = amongAll;
        this.amongSection = amongSection;
    }

    /** The number of steps that {@link #of} reports. */
    static int steps(DebianPackages data) {
        return data.sections().size() + SAMPLED;
    }

    /**
     * Computes the exact answers on all CPUs.
     *
     * @param progress called with the number of steps since the last call
     */
    static DemoTruth of(DebianPackages data, int k, LongConsumer progress) {
        float[][] queries =
                data.queries().stream().map(DebianPackages.Query::vector).toArray(float[][]::new);
        List<int[]> requested = new ArrayList<>();
        List<SearchResult[]> amongSection = new ArrayList<>();
        for (Section section : data.sections()) {
            int[] about = about(data, section);
            float[][] vectors = new float[about.length][];
            for (int i = 0; i < about.length; i++) {
                vectors[i] = queries[about[i]];
            }
            SearchResult[] found =
                    new ExactSearch(data.vectorsOf(section)).searchAll(vectors, Math.min(k, section.rows().length));
            SearchResult[] byQuery = new SearchResult[queries.length];
            for (int i = 0; i < about.length; i++) {
                byQuery[about[i]] = found[i];
            }
            requested.add(about);
            amongSection.add(byQuery);
            progress.accept(1);
        }
        return new DemoTruth(requested, sample(data, queries, k, progress), amongSection);
    }

    private static @Nullable SearchResult[] sample(
            DebianPackages data, float[][] queries, int k, LongConsumer progress) {
        ExactSearch all = new ExactSearch(data.vectors());
        @Nullable SearchResult[] found = new SearchResult[queries.length];
        for (int step = 0; step < SAMPLED; step++) {
            int[] asked = IntStream.iterate(SAMPLED * step, i -> i < queries.length, i -> i + SAMPLED * SAMPLED)
                    .toArray();
            SearchResult[] answers =
                    all.searchAll(Arrays.stream(asked).mapToObj(i -> queries[i]).toArray(float[][]::new), k);
            for (int i = 0; i < asked.length; i++) {
                found[asked[i]] = answers[i];
            }
            progress.accept(1);
        }
        return found;
    }

    private static int[] about(DebianPackages data, Section section) {
        int[] about = IntStream.range(0, data.queries().size())
                .filter(i -> data.queries().get(i).section().equals(section.name()))
                .toArray();
        return about.length > 0
                ? about
                : IntStream.range(0, Math.min(BORROWED, data.queries().size())).toArray();
    }

    /** Per section, the ordinals of the queries to its table. */
    List<int[]> queriesOfSection() {
        return queriesOfSection;
    }

    /** The nearest of all packages to a query; null if it is not in the sample. */
    @Nullable
    SearchResult amongAll(int query) {
        return amongAll[query];
    }

    /** The nearest packages of a section to one of {@link #queriesOfSection()}, as ordinals in the section. */
    SearchResult amongSection(int section, int query) {
        return amongSection.get(section)[query];
    }
}
