package io.github.roost.cli.demo;

import io.github.roost.cli.demo.DemoReport.Hit;
import io.github.roost.core.SearchFunction;
import io.github.roost.rows.Attributes;
import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.testkit.packages.DebianPackages.Package;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;

/** The displayed attributes of packages, in a table by their ordinals in a temporary folder that is deleted on close. For one thread. */
final class DemoAttributes implements AutoCloseable {
    private static final Schema SCHEMA =
            Schema.of(Column.ofText("name"), Column.ofText("section"), Column.ofText("synopsis"));

    private final TemporaryFolder folder;
    private final VersionedRows table;
    private final VersionedRows.Reader reader;

    private DemoAttributes(TemporaryFolder folder, VersionedRows table) {
        this.folder = folder;
        this.table = table;
        this.reader = table.reader();
    }

    static DemoAttributes of(DebianPackages data) throws IOException {
        TemporaryFolder folder = new TemporaryFolder("roost-demo-");
        DemoAttributes made = new DemoAttributes(folder, VersionedRows.open(folder.path()));
        boolean done = false;
        try {
            made.load(data.packages());
            done = true;
            return made;
        } finally {
            if (!done) {
                made.close();
            }
        }
    }

    private void load(List<Package> packages) throws IOException {
        try (VersionBuilder loading = table.begin(1, SCHEMA, packages.size())) {
            RowWriter row = loading.writer();
            for (int i = 0; i < packages.size(); i++) {
                Package next = packages.get(i);
                loading.put(
                        i,
                        row.setText(0, next.name()).setText(1, next.section()).setText(2, next.synopsis()));
            }
            loading.seal();
        }
        table.publish(1);
    }

    /** A search that also reads the displayed attributes, as one request. */
    <Q> SearchFunction<Q, Attributes.Enriched> after(SearchFunction<Q, SearchResult> search) {
        return Attributes.after(search, table);
    }

    /** Reads the displayed attributes of neighbors merged from several tables. */
    Attributes.Enriched of(SearchResult found) {
        RowBatch rows = RowBatch.onHeap();
        reader.getAll(found.ids(), rows);
        return new Attributes.Enriched(found, rows);
    }

    static List<Hit> hits(Attributes.Enriched found, int max) {
        RowBatch rows = found.rows();
        return IntStream.range(0, Math.min(max, rows.size()))
                .mapToObj(i -> new Hit(
                        rows.getText(i, 0),
                        rows.getText(i, 1),
                        rows.getText(i, 2),
                        found.result().distances()[i]))
                .toList();
    }

    @Override
    public void close() throws IOException {
        reader.close();
        table.close();
        folder.close();
    }
}
