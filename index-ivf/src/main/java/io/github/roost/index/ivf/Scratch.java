package io.github.roost.index.ivf;

import io.github.roost.core.ScratchPool;
import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.QueryGroup;
import io.github.roost.index.ivf.kernel.RowPicks;
import io.github.roost.index.ivf.kernel.ScoredRows;
import java.util.ArrayDeque;

/**
 * What scans and comparisons work in, shared by all tables: it is costly to make and belongs to nobody for longer than one
 * of them takes. So it does not matter how many threads search, and a filter that searches has a scratch of its own.
 */
final class Scratch {
    /** A few hundred kilobytes, or three megabytes where all are as large as may be. */
    static final int MAX_SPARE = 256;

    static final ScratchPool<QueryGroup> QUERY_GROUPS = new ScratchPool<>(QueryGroup::new);
    static final ScratchPool<CodeGroup> CODE_GROUPS = new ScratchPool<>(CodeGroup::new);
    static final ScratchPool<RowPicks> PICKS = new ScratchPool<>(RowPicks::new);
    static final ScratchPool<AllowedRows> ALLOWED = new ScratchPool<>(AllowedRows::new);
    static final ScratchPool<DecodedRows> DECODED = new ScratchPool<>(DecodedRows::new);
    /**
     * Memory of shortlists that are done with, the last first: that is the one the caches still hold. Many at a time, for
     * many queries that wait for lists hold one each.
     */
    static final ScratchPool<ArrayDeque<ScoredRows>> SPARE = new ScratchPool<>(() -> new ArrayDeque<>(MAX_SPARE));

    private Scratch() {}
}
