package io.github.roost.bench.report;

import io.github.roost.simulator.plot.Plot;
import java.util.List;

/**
 * The content of a part in a report.
 *
 * @param markdown tables and sentences
 * @param plots shown below them on a page
 */
record Block(String markdown, List<Plot> plots) {
    static Block of(String markdown) {
        return new Block(markdown, List.of());
    }
}
