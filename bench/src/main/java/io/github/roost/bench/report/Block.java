package io.github.roost.bench.report;

import io.github.roost.bench.plot.Plot;
import java.util.List;

/**
 * What a part shows in a report.
 *
 * @param markdown tables and sentences
 * @param plots what a page shows below them
 */
record Block(String markdown, List<Plot> plots) {
    static Block of(String markdown) {
        return new Block(markdown, List.of());
    }
}
