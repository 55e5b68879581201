package io.github.roost.index.ivf;

import io.github.roost.core.SearchContext;
import io.github.roost.index.ivf.kernel.QueryGroup;
import io.github.roost.index.ivf.kernel.Reservoir;
import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.Metric;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

/** Scans float32 or float16, with exact distances. */
final class FloatScanner implements ListScanner {
    private final ScanKernel kernel;
    private final Metric metric;
    private final int dimension;
    private final int componentBytes;

    /** @param componentBytes bytes per component in lists */
    FloatScanner(ScanKernel kernel, Metric metric, int dimension, int componentBytes) {
        this.kernel = kernel;
        this.metric = metric;
        this.dimension = dimension;
        this.componentBytes = componentBytes;
    }

    @Override
    public int rowBytes() {
        return dimension * componentBytes;
    }

    @Override
    public FloatQuery query(IvfRequest request, IvfRows.View view) {
        return new FloatQuery(kernel, request, view::mayRepeat);
    }

    /** Scans for groups of as many queries as the kernel takes. */
    @Override
    public void scan(RowList list, List<IvfQuery<?>> waiting, SearchContext context) {
        List<RowRun> runs = list.runs();
        List<FloatQuery> open = new ArrayList<>(waiting.size());
        int maxRoom = 1;
        for (IvfQuery<?> each : waiting) {
            if (each.isOver()) {
                continue;
            }
            FloatQuery query = (FloatQuery) each;
            LongPredicate filter = query.request().filter();
            if (filter == null) {
                open.add(query);
                maxRoom = Math.max(maxRoom, query.request().room());
            } else {
                scanFiltered(runs, query, filter, context);
            }
        }
        int limit = QueryGroup.limit(maxRoom);
        long rows = rowsOf(runs);
        for (int from = 0; from < open.size(); from += limit) {
            scanGroup(runs, open.subList(from, Math.min(open.size(), from + limit)), maxRoom, rows);
            // The group's queries share one pass, so the list's rows are read once for all of them.
            context.touched(rows, rows * rowBytes());
        }
    }

    /** Scans for a filtered query by itself; reads the ids of the list, and only the rows that the filter allows. */
    private void scanFiltered(List<RowRun> runs, FloatQuery query, LongPredicate filter, SearchContext context) {
        AllowedRuns allowed = Scratch.ALLOWED.take();
        try {
            scanAllowed(allowed, runs, query, filter, context);
        } finally {
            Scratch.ALLOWED.giveBack(allowed);
        }
    }

    private void scanAllowed(
            AllowedRuns allowed, List<RowRun> runs, FloatQuery query, LongPredicate filter, SearchContext context) {
        List<RowRun> copies;
        try {
            copies = allowed.of(runs, filter);
        } catch (RuntimeException | Error ofTheFilter) {
            // An error in the caller's code: only its own query fails, not others that wait for the list.
            query.fail(ofTheFilter);
            return;
        }
        long rows = rowsOf(runs);
        long found = rowsOf(copies);
        scanGroup(copies, List.of(query), query.request().room(), found);
        context.touched(found, rows * Long.BYTES + found * rowBytes());
    }

    private static long rowsOf(List<RowRun> runs) {
        long rows = 0;
        for (RowRun run : runs) {
            rows += run.count();
        }
        return rows;
    }

    private void scanGroup(List<RowRun> runs, List<FloatQuery> queries, int maxRoom, long rows) {
        Reservoir[] reservoirs = new Reservoir[queries.size()];
        QueryGroup group = Scratch.QUERY_GROUPS.take();
        try {
            group.begin(metric, dimension, maxRoom);
            for (int i = 0; i < reservoirs.length; i++) {
                FloatQuery query = queries.get(i);
                reservoirs[i] = query.borrow();
                group.add(query.request().vector(), reservoirs[i], query.bound());
            }
            for (RowRun run : runs) {
                kernel.scan(run, group);
            }
            group.finish();
        } finally {
            Scratch.QUERY_GROUPS.giveBack(group);
        }
        for (int i = 0; i < reservoirs.length; i++) {
            queries.get(i).giveBack(reservoirs[i], rows);
        }
    }
}
