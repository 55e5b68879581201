package io.github.roost.bench.report;

import java.util.ArrayList;
import java.util.List;

/** A Markdown table; all columns except the first are right-aligned. Not thread-safe. */
public final class MarkdownTable {
    private final List<String> lines = new ArrayList<>();

    /** A table with these titles of columns. */
    public MarkdownTable(String... head) {
        this(List.of(head));
    }

    /** A table with these titles of columns. */
    public MarkdownTable(List<String> head) {
        row(head);
        lines.add("| --- |" + " ---: |".repeat(head.size() - 1));
    }

    /** Adds a row. */
    public MarkdownTable row(String... cells) {
        return row(List.of(cells));
    }

    /** Adds a row. */
    public MarkdownTable row(List<String> cells) {
        lines.add("| " + String.join(" | ", cells) + " |");
        return this;
    }

    @Override
    public String toString() {
        return String.join("\n", lines);
    }
}
