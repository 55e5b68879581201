package io.github.roost.index.ivf;

import io.github.roost.core.SearchContext;
import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.Metric;
import java.util.ArrayList;
import java.util.List;

/**
 * Scans codes for candidates and reranks the best: all that may be in an exact answer, or a fixed number of them.
 * The filter tests only candidates, as a score costs less than a call of the filter.
 */
final class CodeScanner implements ListScanner {
    private final ScanKernel kernel;
    private final Metric metric;
    private final int stride;
    /** NaN if answers are exact. */
    private final double rerank;

    private final Reranker reranker;

    /** Reranks all rows that may be among the nearest according to their codes. */
    static CodeScanner exact(ScanKernel kernel, Metric metric, int dimension) {
        return new CodeScanner(kernel, metric, dimension, Double.NaN);
    }

    /** @param rerank candidates beyond k, as a multiple of the root of k */
    static CodeScanner approximate(ScanKernel kernel, Metric metric, int dimension, double rerank) {
        return new CodeScanner(kernel, metric, dimension, rerank);
    }

    private CodeScanner(ScanKernel kernel, Metric metric, int dimension, double rerank) {
        this.kernel = kernel;
        this.metric = metric;
        this.stride = CodeRun.strideOf(dimension);
        this.rerank = rerank;
        this.reranker = new Reranker(kernel, metric, dimension);
    }

    @Override
    public int rowBytes() {
        return stride + 2 * Float.BYTES;
    }

    @Override
    public CodeQuery query(IvfRequest request, IvfRows.View view) {
        boolean exact = Double.isNaN(rerank);
        int candidates = exact ? request.room() : request.room() + (int) Math.ceil(rerank * Math.sqrt(request.k()));
        return new CodeQuery(request, candidates, exact, reranker, view::mayRepeat);
    }

    @Override
    public void scan(RowList list, List<IvfQuery<?>> waiting, SearchContext context) {
        List<CodeQuery> open = new ArrayList<>(waiting.size());
        for (IvfQuery<?> query : waiting) {
            if (!query.isOver()) {
                open.add((CodeQuery) query);
            }
        }
        for (int from = 0; from < open.size(); from += CodeGroup.MAX_QUERIES) {
            int to = Math.min(open.size(), from + CodeGroup.MAX_QUERIES);
            long rows = scanGroup(list, open.subList(from, to));
            context.touched(rows, rows * rowBytes());
        }
    }

    /** Number of rows scanned. */
    private long scanGroup(RowList list, List<CodeQuery> queries) {
        Shortlist[] shortlists = new Shortlist[queries.size()];
        CodeGroup group = Scratch.CODE_GROUPS.take();
        long rows;
        try {
            rows = scan(group, list, queries, shortlists);
        } finally {
            Scratch.CODE_GROUPS.giveBack(group);
        }
        for (int i = 0; i < shortlists.length; i++) {
            queries.get(i).giveBack(shortlists[i], rows);
        }
        return rows;
    }

    private long scan(CodeGroup group, RowList list, List<CodeQuery> queries, Shortlist[] shortlists) {
        ScalarCodec codec = list.layout().requireCodec();
        group.begin(metric, codec.quantizer().center());
        for (CodeQuery query : queries) {
            group.add(query.request().vector());
        }
        kernel.weigh(group);
        for (int i = 0; i < shortlists.length; i++) {
            shortlists[i] = queries.get(i).borrow();
            shortlists[i].begin(group, i, codec, queries.get(i).bound());
        }
        long rows = 0;
        for (RowBlock block : list.blocks()) {
            int count = block.published();
            for (int from = 0; from < count; from += CodeGroup.MAX_ROWS) {
                kernel.scan(block.codes(), from, Math.min(count, from + CodeGroup.MAX_ROWS), group);
                take(group, block, queries, shortlists);
            }
            rows += count;
        }
        return rows;
    }

    private static void take(CodeGroup group, RowBlock block, List<CodeQuery> queries, Shortlist[] shortlists) {
        for (int i = 0; i < shortlists.length; i++) {
            if (group.found(i) == 0) {
                continue;
            }
            try {
                shortlists[i].take(group, i, block, queries.get(i).request().filter());
            } catch (RuntimeException | Error ofTheFilter) {
                // An error in the caller's code: only its own query fails, not others that wait for the list.
                queries.get(i).fail(ofTheFilter);
                group.lowerBound(i, Float.NEGATIVE_INFINITY);
            }
        }
    }
}
