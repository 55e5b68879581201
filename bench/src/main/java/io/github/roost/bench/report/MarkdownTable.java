package io.github.roost.bench.report;

import java.util.ArrayList;
import java.util.List;

/** A Markdown table; all columns except the first are right-aligned. Not thread-safe. */
final class MarkdownTable {
    private final List<String> lines = new ArrayList<>();

    MarkdownTable(String... head) {
        this(List.of(head));
    }

    MarkdownTable(List<String> head) {
        row(head);
        lines.add("| --- |" + " ---: |".repeat(head.size() - 1));
    }

    MarkdownTable row(String... cells) {
        return row(List.of(cells));
    }

    MarkdownTable row(List<String> cells) {
        lines.add("| " + String.join(" | ", cells) + " |");
        return this;
    }

    @Override
    public String toString() {
        return String.join("\n", lines);
    }
}
