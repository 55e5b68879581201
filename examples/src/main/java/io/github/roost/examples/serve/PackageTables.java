package io.github.roost.examples.serve;

import io.github.roost.bench.packages.DebianPackages;
import io.github.roost.bench.packages.DebianPackages.Package;
import io.github.roost.bench.packages.DebianPackages.Query;
import io.github.roost.bench.packages.DebianPackages.Section;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Makes the tables of the Debian packages: one a section, with the packages' ordinals as ids. */
final class PackageTables {
    private PackageTables() {}

    /** @param built is told of each table that stands */
    static Tables of(Orchestrator orchestrator, DebianPackages data, Consumer<ServedTable> built) {
        List<ServedTable> tables = new ArrayList<>();
        for (Section section : data.sections()) {
            Map<Long, Item> items = new HashMap<>();
            for (int row : section.rows()) {
                Package described = data.packages().get(row);
                items.put((long) row, new Item(described.name(), described.synopsis(), data.vectors()[row]));
            }
            LiveTable rows = LiveTable.builder()
                    .name(section.name())
                    .build(
                            orchestrator,
                            Arrays.stream(section.rows()).asLongStream().toArray(),
                            data.vectorsOf(section));
            ServedTable table = new ServedTable(rows, items);
            tables.add(table);
            built.accept(table);
        }
        Map<String, float[]> phrases = new LinkedHashMap<>();
        for (Query phrase : data.phrases()) {
            phrases.put(phrase.text(), phrase.vector());
        }
        return new Tables(tables, phrases);
    }
}
