package io.github.roost.index.disk.search;

import io.github.roost.core.MappingId;
import io.github.roost.core.spi.Indexing;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.io.BlockIo;
import io.github.roost.io.BlockReads;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** The searches of a table: begins each on a graph, with its reads and the current options. Thread-safe. */
public final class DiskSearch {
    private static final int MIN_DEFAULT_WIDTH = 100;

    private final Indexing indexing;
    private final MappingId id;
    private final BlockIo io;
    private final SearchCounts counts = new SearchCounts();
    private volatile PageReads pageReads = PageReads.DEFAULT;
    private volatile boolean prefetches;

    /**
     * Creates the searches of a table.
     *
     * @param indexing runs them
     * @param id their mapping id
     * @param io reads the pages
     */
    public DiskSearch(Indexing indexing, MappingId id, BlockIo io) {
        this.indexing = indexing;
        this.id = id;
        this.io = io;
    }

    /** The width of a search that names none. */
    public static int defaultWidth(int k) {
        return Math.max(MIN_DEFAULT_WIDTH, 2 * k);
    }

    /** Sets how searches read pages; takes effect for searches that begin afterwards. */
    public void pageReads(PageReads value) {
        pageReads = value;
    }

    /** Sets whether searches prefetch their distances after updates; takes effect for searches that begin afterwards. */
    public void prefetch(boolean value) {
        prefetches = value;
    }

    /**
     * Submits a checked request.
     *
     * @param codes of the graph, entered; the search closes them when it ends
     */
    public CompletableFuture<SearchResult> submit(DiskGraph graph, ProductCodes codes, SearchRequest request) {
        BlockReads reads = io.reads();
        CompletableFuture<SearchResult> answer;
        try {
            BeamSearch search = new BeamSearch(graph, codes, counts, request, pageReads, prefetches, reads);
            answer = indexing.submitSteps(search::begin, search, id, request.options());
        } catch (Throwable failed) {
            reads.close();
            codes.close();
            throw failed;
        }
        // However the search ends, its reads are freed; reads in flight keep the file open by themselves.
        var _ = answer.whenComplete((result, failure) -> {
            reads.close();
            codes.close();
        });
        return answer;
    }

    /**
     * The k nearest rows of each query, by an exact scan that blocks, and ends when it has expired.
     *
     * @param codes of the graph, which the caller has entered
     */
    public static SearchResult[] nearest(
            DiskGraph graph, ProductCodes codes, float[][] queries, int k, BooleanSupplier expired) {
        return new ExactScan(graph, codes).nearest(queries, k, expired);
    }

    public SearchCounts counts() {
        return counts;
    }
}
