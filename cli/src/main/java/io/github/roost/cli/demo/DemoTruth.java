package io.github.roost.cli.demo;

import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.testkit.packages.DebianPackages.Section;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The ground truth for all queries of the demo, by exact search. Immutable. */
final class DemoTruth {
    /** Number of queries borrowed from other sections for a section without queries of its own. */
    private static final int BORROWED = 50;

    private final List<int[]> queriesOfSection;
    private final SearchResult[] amongAll;
    private final List<SearchResult[]> amongSection;

    private DemoTruth(List<int[]> queriesOfSection, SearchResult[] amongAll, List<SearchResult[]> amongSection) {
        this.queriesOfSection = queriesOfSection;
        this.amongAll = amongAll;
        this.amongSection = amongSection;
    }

    /** Computes the exact answers on all CPUs. */
    static DemoTruth of(DebianPackages data, int k) {
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
        }
        return new DemoTruth(requested, new ExactSearch(data.vectors()).searchAll(queries, k), amongSection);
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

    /** The nearest of all packages to a query. */
    SearchResult amongAll(int query) {
        return amongAll[query];
    }

    /** The nearest packages of a section to one of {@link #queriesOfSection()}, as ordinals in the section. */
    SearchResult amongSection(int section, int query) {
        return amongSection.get(section)[query];
    }
}
