package io.github.roost.opensearch;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.SortedNumericDocValues;
import org.jspecify.annotations.Nullable;
import org.opensearch.common.document.DocumentField;
import org.opensearch.index.mapper.MappedFieldType;
import org.opensearch.index.mapper.MapperService;
import org.opensearch.search.fetch.FetchSubPhase.HitContext;
import org.opensearch.search.fetch.FetchSubPhaseProcessor;
import org.opensearch.search.internal.SearchContext;

/** The table rows of all hits of a fetch, read before the first hit is built. Used by one thread. */
final class HitAttributes implements FetchSubPhaseProcessor {
    private static final Set<String> KEY_TYPES = Set.of("long", "integer", "short", "byte");

    /** The name of a hit's field that says why it has no columns of a table, after the table's name. */
    private static final String ERROR = "._error";

    private final List<Rows> rows;
    /** By the name of that field. */
    private final Map<String, String> reasons;

    private int docBase;

    /**
     * The rows of one table.
     *
     * @param documents documents with a key, ascending
     * @param names names of the hits' fields, by column
     * @param batch one row per document
     */
    private record Rows(int[] documents, List<String> names, RowBatch batch) {}

    private HitAttributes(List<Rows> rows, Map<String, String> reasons) {
        this.rows = rows;
        this.reasons = reasons;
    }

    /**
     * Reads the rows of all hits that a search will fetch; the rows of each table are of one version. If a table, key field or column does
     * not exist, or the index may not read the table, each hit says why it has no columns of it.
     */
    static HitAttributes read(NodeTables tables, Collection<FieldAttributes> requested, SearchContext search)
            throws IOException {
        int[] documents = Arrays.copyOfRange(
                search.docIdsToLoad(),
                search.docIdsToLoadFrom(),
                search.docIdsToLoadFrom() + search.docIdsToLoadSize());
        Arrays.sort(documents);
        List<Rows> rows = new ArrayList<>();
        Map<String, String> reasons = new LinkedHashMap<>();
        for (FieldAttributes attributes : requested) {
            try {
                requireKey(attributes, search.mapperService());
                rows.add(read(tables, attributes, documents, search));
            } catch (IllegalArgumentException unreadable) {
                // The documents can be read without.
                reasons.put(attributes.table() + ERROR, String.valueOf(unreadable.getMessage()));
            }
        }
        return new HitAttributes(rows, reasons);
    }

    private static void requireKey(FieldAttributes attributes, MapperService mappings) {
        MappedFieldType key = mappings.fieldType(attributes.key());
        if (key == null || !KEY_TYPES.contains(key.typeName()) || !key.hasDocValues()) {
            throw new IllegalArgumentException("the key of attributes of table [" + attributes.table()
                    + "] must be a field of type long, integer, short or byte with doc values, and [" + attributes.key()
                    + "] is " + (key == null ? "not there" : "of type " + key.typeName()));
        }
    }

    private static Rows read(NodeTables tables, FieldAttributes attributes, int[] documents, SearchContext search)
            throws IOException {
        List<LeafReaderContext> segments = search.searcher().getIndexReader().leaves();
        long[] keys = new long[documents.length];
        int[] keyed = new int[documents.length];
        int count = 0;
        LeafReaderContext segment = null;
        SortedNumericDocValues values = null;
        for (int document : documents) {
            LeafReaderContext holder = segments.get(ReaderUtil.subIndex(document, segments));
            if (values == null || holder != segment) {
                segment = holder;
                values = DocValues.getSortedNumeric(holder.reader(), attributes.key());
            }
            if (values.advanceExact(document - holder.docBase)) {
                keys[count] = values.nextValue();
                keyed[count++] = document;
            }
        }
        RowBatch batch = tables.rows(
                attributes.table(),
                search.mapperService().index().getName(),
                Arrays.copyOf(keys, count),
                attributes.columns());
        List<String> names = batch.schema().columns().stream()
                .map(column -> attributes.table() + "." + column.name())
                .toList();
        return new Rows(Arrays.copyOf(keyed, count), names, batch);
    }

    @Override
    public void setNextReader(LeafReaderContext segment) {
        docBase = segment.docBase;
    }

    @Override
    public void process(HitContext hit) {
        reasons.forEach((name, reason) -> hit.hit().setDocumentField(name, new DocumentField(name, List.of(reason))));
        for (Rows of : rows) {
            int row = Arrays.binarySearch(of.documents, docBase + hit.docId());
            if (row >= 0 && of.batch.isPresent(row)) {
                for (int column = 0; column < of.names.size(); column++) {
                    Object value = value(of.batch, row, column);
                    if (value != null) {
                        String name = of.names.get(column);
                        hit.hit().setDocumentField(name, new DocumentField(name, List.of(value)));
                    }
                }
            }
        }
    }

    private static @Nullable Object value(RowBatch batch, int row, int column) {
        Column.Type type = batch.schema().columns().get(column).type();
        return switch (type) {
            case INT -> batch.getInt(row, column);
            case LONG -> batch.getLong(row, column);
            case FLOAT -> finite(batch.getFloat(row, column));
            case DOUBLE -> finite(batch.getDouble(row, column));
            case FIXED_BYTES, BYTES -> batch.getBytes(row, column).toArray(ValueLayout.JAVA_BYTE);
            case TEXT -> batch.getText(row, column);
        };
    }

    /** Null for NaN and infinity, which JSON cannot represent. */
    private static @Nullable Double finite(double value) {
        return Double.isFinite(value) ? value : null;
    }

    private static @Nullable Float finite(float value) {
        return Float.isFinite(value) ? value : null;
    }
}
