package io.github.roost.index.ivf;

import io.github.roost.core.SearchContext;
import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.QueryWeights;
import java.util.ArrayList;
import java.util.List;

/**
 * Scans codes for candidates and reranks the best: all that may be in an exact answer, or a fixed number of them.
 * The filter tests only candidates, as a score costs less than a call of the filter.
 */
final class CodeScanner implements ListScanner {
    private final ScanKernel kernel;
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
        this.stride = CodeRun.strideOf(dimension);
        this.rerank = rerank;
        this.reranker = new Reranker(kernel, metric, dimension);
    }

    @Override
    public int rowBytes() {
        return stride + Float.BYTES;
    }

    @Override
    public CodeQuery query(IvfRequest request, IvfRows.View view) {
        ScalarCodec codec = view.lists().layout().codec();
        if (codec == null) {
            throw new IllegalStateException("the lists keep no codes");
        }
        QueryWeights.Bytes weights = codec.weights(request.vector());
        boolean exact = Double.isNaN(rerank);
        int candidates = exact ? request.room() : request.room() + (int) Math.ceil(rerank * Math.sqrt(request.k()));
        ScoreMargin margin = exact ? codec.margin(request.vector(), weights) : null;
        return new CodeQuery(request, weights, candidates, margin, reranker, view::mayRepeat);
    }

    @Override
    public void scan(RowList list, List<IvfQuery<?>> waiting, SearchContext context) {
        List<CodeQuery> open = new ArrayList<>(waiting.size());
        for (IvfQuery<?> query : waiting) {
            if (!query.isOver()) {
                open.add((CodeQuery) query);
            }
        }
        List<RowBlock> blocks = list.blocks();
        for (int from = 0; from < open.size(); from += CodeGroup.MAX_QUERIES) {
            int to = Math.min(open.size(), from + CodeGroup.MAX_QUERIES);
            long rows = scanGroup(blocks, open.subList(from, to));
            context.touched(rows, rows * rowBytes());
        }
    }

    /** Number of rows scanned. */
    private long scanGroup(List<RowBlock> blocks, List<CodeQuery> queries) {
        List<Shortlist> shortlists = new ArrayList<>(queries.size());
        CodeGroup group = Scratch.CODE_GROUPS.take();
        long rows;
        try {
            rows = scan(group, blocks, queries, shortlists);
        } finally {
            Scratch.CODE_GROUPS.giveBack(group);
        }
        for (int i = 0; i < queries.size(); i++) {
            queries.get(i).giveBack(shortlists.get(i), rows);
        }
        return rows;
    }

    private long scan(CodeGroup group, List<RowBlock> blocks, List<CodeQuery> queries, List<Shortlist> shortlists) {
        group.begin(stride);
        for (CodeQuery query : queries) {
            QueryWeights.Bytes weights = query.weights();
            shortlists.add(query.borrow());
            float bound = Math.min(query.bound(), shortlists.getLast().bound());
            group.add(weights.weights(), weights.sum(), weights.slope(), bound);
        }
        long rows = 0;
        for (RowBlock block : blocks) {
            int count = block.published();
            for (int from = 0; from < count; from += CodeGroup.MAX_ROWS) {
                kernel.scan(block.codes(), from, Math.min(count, from + CodeGroup.MAX_ROWS), group);
                take(group, block, queries, shortlists);
            }
            rows += count;
        }
        return rows;
    }

    private static void take(CodeGroup group, RowBlock block, List<CodeQuery> queries, List<Shortlist> shortlists) {
        for (int i = 0; i < shortlists.size(); i++) {
            Shortlist shortlist = shortlists.get(i);
            if (group.found(i) == 0) {
                continue;
            }
            try {
                shortlist.take(group, i, block, queries.get(i).request().filter());
                group.lowerBound(i, shortlist.bound());
            } catch (RuntimeException | Error ofTheFilter) {
                // An error in the caller's code: only its own query fails, not others that wait for the list.
                queries.get(i).fail(ofTheFilter);
                group.lowerBound(i, Float.NEGATIVE_INFINITY);
            }
        }
    }
}
