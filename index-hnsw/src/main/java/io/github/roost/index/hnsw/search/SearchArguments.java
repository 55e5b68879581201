package io.github.roost.index.hnsw.search;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.vector.Metric;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/** The arguments of one search in C, in off-heap memory of its scratch; search.h explains them. Used by one search at a time. */
final class SearchArguments {
    /** {@code struct search} in search.h. */
    static final StructLayout LAYOUT = MemoryLayout.structLayout(
            ADDRESS.withName("query"),
            ADDRESS.withName("allowed"),
            ADDRESS.withName("visited"),
            ADDRESS.withName("candidates"),
            ADDRESS.withName("log"),
            ADDRESS.withName("found"),
            ADDRESS.withName("weights"),
            ADDRESS.withName("progress"),
            JAVA_LONG.withName("labels"),
            JAVA_INT.withName("inner_product"),
            JAVA_INT.withName("width"),
            JAVA_INT.withName("most_reranked"),
            JAVA_INT.withName("budget"),
            JAVA_INT.withName("scanned"),
            JAVA_INT.withName("unused"),
            ADDRESS.withName("image"));

    private static final VarHandle QUERY = field("query");
    private static final VarHandle ALLOWED = field("allowed");
    private static final VarHandle VISITED = field("visited");
    private static final VarHandle CANDIDATES = field("candidates");
    private static final VarHandle LOG = field("log");
    private static final VarHandle FOUND = field("found");
    private static final VarHandle WEIGHTS = field("weights");
    private static final VarHandle PROGRESS = field("progress");
    private static final VarHandle LABELS = field("labels");
    private static final VarHandle INNER_PRODUCT = field("inner_product");
    private static final VarHandle WIDTH = field("width");
    private static final VarHandle MOST_RERANKED = field("most_reranked");
    private static final VarHandle BUDGET = field("budget");
    private static final VarHandle SCANNED = field("scanned");

    private final MemorySegment memory;

    /** In memory of the size of {@link #LAYOUT}. */
    SearchArguments(MemorySegment memory) {
        this.memory = memory;
    }

    private static VarHandle field(String name) {
        return LAYOUT.varHandle(groupElement(name));
    }

    /**
     * Writes the arguments of a call.
     *
     * @param scratch begun for this search; it, and the set, must stay reachable until the call returns
     */
    MemorySegment write(
            GraphImage image, SearchScratch scratch, int width, int maxReranked, NodeSet allowed, int budget) {
        QUERY.set(memory, 0L, scratch.query);
        ALLOWED.set(memory, 0L, allowed.words(image));
        VISITED.set(memory, 0L, scratch.visited);
        CANDIDATES.set(memory, 0L, scratch.candidates);
        LOG.set(memory, 0L, scratch.log);
        FOUND.set(memory, 0L, scratch.found);
        WEIGHTS.set(memory, 0L, scratch.weights);
        PROGRESS.set(memory, 0L, scratch.progress);
        LABELS.set(memory, 0L, (long) allowed.labels());
        INNER_PRODUCT.set(memory, 0L, innerProduct(image));
        WIDTH.set(memory, 0L, width);
        MOST_RERANKED.set(memory, 0L, maxReranked);
        BUDGET.set(memory, 0L, budget);
        SCANNED.set(memory, 0L, scratch.isScan() ? 1 : 0);
        return memory;
    }

    /** Whether an image is searched by inner product, as C has it. */
    static int innerProduct(GraphImage image) {
        return image.shape().metric() == Metric.INNER_PRODUCT ? 1 : 0;
    }
}
