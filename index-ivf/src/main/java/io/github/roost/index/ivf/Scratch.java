package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.QueryGroup;
import io.github.roost.index.ivf.kernel.RowPicks;
import io.github.roost.index.ivf.kernel.ScoredRows;
import io.github.roost.vector.spi.ScratchPool;
import java.util.ArrayDeque;

/**
 * Working memory of scans and rerankings, shared by all tables. It is costly to allocate and held only for the duration of one
 * scan or reranking; so the number of searching threads does not matter, and a filter that itself searches gets its own.
 */
final class Scratch {
    /** At most three megabytes, usually a few hundred kilobytes. */
    static final int MAX_SPARE = 256;

    static final ScratchPool<QueryGroup> QUERY_GROUPS = new ScratchPool<>(QueryGroup::new);
    static final ScratchPool<CodeGroup> CODE_GROUPS = new ScratchPool<>(CodeGroup::new);
    static final ScratchPool<RowPicks> PICKS = new ScratchPool<>(RowPicks::new);
    static final ScratchPool<AllowedRuns> ALLOWED = new ScratchPool<>(AllowedRuns::new);
    static final ScratchPool<Reranker.DecodedRows> DECODED = new ScratchPool<>(Reranker.DecodedRows::new);
    /**
     * Memory of finished shortlists, last in first out, as the last is still in the caches. Many, as
     * many queries that wait for lists hold one each.
     */
    static final ScratchPool<ArrayDeque<ScoredRows>> SPARE = new ScratchPool<>(() -> new ArrayDeque<>(MAX_SPARE));

    private Scratch() {}
}
