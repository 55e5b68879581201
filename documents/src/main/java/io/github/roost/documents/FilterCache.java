package io.github.roost.documents;

import io.github.roost.vector.IdFilter;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import org.roaringbitmap.BitSetUtil;
import org.roaringbitmap.RoaringBitmap;

/**
 * The rows of the filters that were used last, as long as nothing changes. A filter that comes a second time is one whose answers a graph
 * may keep. Thread-safe.
 */
final class FilterCache {
    private static final int MAX_FILTERS = 64;

    private final Map<DocumentFilter, Rows> filters = new LinkedHashMap<>(MAX_FILTERS, .75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<DocumentFilter, Rows> eldest) {
            return size() > MAX_FILTERS;
        }
    };

    /**
     * The rows that meet a filter.
     *
     * @param version of the index
     * @param set the rows; not changed
     * @param filter the same rows
     */
    record Rows(long version, RoaringBitmap set, IdFilter filter) {}

    /**
     * {@return the rows that meet a filter}
     *
     * @param filter the filter
     * @param version changes with the index
     * @param index is not changed during the call
     */
    Rows rows(DocumentFilter filter, long version, MetadataIndex index) {
        synchronized (filters) {
            Rows known = filters.get(filter);
            if (known != null && known.version == version) {
                if (!known.filter.isCached()) {
                    known = new Rows(version, known.set, known.filter.cached());
                    filters.put(filter, known);
                }
                return known;
            }
        }
        RoaringBitmap set = index.rows(filter);
        // A graph asks about each row that it has, once, and a bit is found in a tenth of the time.
        BitSet bits = BitSetUtil.bitsetOf(set);
        Rows rows = new Rows(version, set, IdFilter.of(row -> bits.get((int) row)));
        synchronized (filters) {
            filters.put(filter, rows);
        }
        return rows;
    }
}
