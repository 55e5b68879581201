package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.testkit.packages.DebianPackages.Package;
import io.github.roost.testkit.packages.DebianPackages.Query;
import io.github.roost.testkit.packages.DebianPackages.Section;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The tables of the Debian packages: one per section, with the packages' ordinals as ids. */
final class PackageTables implements ServedData {
    private final DebianPackages data;

    PackageTables(DebianPackages data) {
        this.data = data;
    }

    @Override
    public String title() {
        return "%d tables of %,d packages"
                .formatted(data.sections().size(), data.packages().size());
    }

    @Override
    public List<String> names() {
        return data.sections().stream().map(Section::name).toList();
    }

    @Override
    public List<DescribedTable> build(Orchestrator orchestrator, Consumer<DescribedTable> built) throws IOException {
        ItemRows words = words();
        List<DescribedTable> tables = new ArrayList<>();
        for (Section section : data.sections()) {
            LiveTable rows = LiveTable.builder()
                    .name(section.name())
                    .build(
                            orchestrator,
                            Arrays.stream(section.rows()).asLongStream().toArray(),
                            data.vectorsOf(section));
            tables.add(new DescribedTable(rows, items(section), words));
            built.accept(tables.getLast());
        }
        return tables;
    }

    @Override
    public List<DescribedTable> describe(List<LiveTable> kept) throws IOException {
        ItemRows words = words();
        List<DescribedTable> tables = new ArrayList<>();
        for (LiveTable rows : kept) {
            tables.add(new DescribedTable(rows, items(data.sections().get(tables.size())), words));
        }
        return tables;
    }

    /** The words of all sections' rows: a package is in one section, so ordinals are unique ids. */
    private ItemRows words() throws IOException {
        Map<Long, Item> items = new HashMap<>();
        data.sections().forEach(section -> items.putAll(items(section)));
        return ItemRows.of(items);
    }

    private Map<Long, Item> items(Section section) {
        Map<Long, Item> items = new HashMap<>();
        for (int row : section.rows()) {
            Package described = data.packages().get(row);
            items.put((long) row, new Item(described.name(), described.synopsis()));
        }
        return items;
    }

    @Override
    public Tables tables(List<DescribedTable> tables) {
        Map<String, float[]> phrases = new LinkedHashMap<>();
        for (Query phrase : data.phrases()) {
            phrases.put(phrase.text(), phrase.vector());
        }
        return new Tables(tables, phrases, tables.getFirst().words()::close);
    }
}
