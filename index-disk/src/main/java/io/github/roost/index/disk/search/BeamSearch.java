package io.github.roost.index.disk.search;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.index.disk.format.BlockMap;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.format.Space;
import io.github.roost.io.BlockReads;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One graph search of a table: keeps the nearest nodes by their codes, reads the pages of the nearest unread nodes, and adds their
 * neighbors, until all kept nodes are read. Results are ordered by the vectors themselves, which are on
 * the pages with the edges.
 *
 * <p>Runs in slices of some microseconds, one at a time; the runtime publishes one slice's writes to the next, and checks
 * deadline and cancellation before each. All state is the search's own and left to the garbage collector, so a search that is
 * cancelled while parked only has to give back its reads.
 */
public final class BeamSearch {
    /** Max nodes of the sample that a search begins with: some 20 us. */
    private static final int SAMPLE = 1024;
    /** The same for an update: some 3 us. */
    private static final int UPDATE_SAMPLE = 128;
    /** At most one in this many of the codes that a search may compare is of the sample. */
    private static final int VISITS_PER_SAMPLE = 8;
    /** One start for this much of the width, and at least one: starts must not displace the entry from a narrow search. */
    private static final int WIDTH_PER_START = 4;
    /** Max nodes of the sample that a search begins at. */
    private static final int STARTS = 4;
    /** Codes compared per slice, some 100 us. */
    private static final int CODES_PER_SLICE = 4096;
    /** Concurrent reads at the start of a pipelined search. */
    private static final int FIRST_READS = 4;
    /** Max nodes whose pages are being read; several may share a page. */
    private static final int MAX_READING = 4 * PageReads.MAX;
    /** After this many expanded nodes, further pages that were read wait for the next slice: some 100 us. */
    private static final int MAX_FROM_PAGES = 64;
    /** Max nodes per slice on changed pages, which need no read: some 100 us. */
    private static final int MAX_FROM_MEMORY = 16;
    /** Max nodes without a live row that the search of an update expands, per node of its width. */
    private static final int UPDATE_REFUSED = 64;
    /** Room for the equal nodes of one: most have few. */
    private static final int MIN_TWINS = 4;

    private static final int[] NONE = {};
    /** Floats per cache line of 64 bytes. */
    private static final int FLOATS_PER_LINE = 16;

    /** Called with the node and vector, in the scale of distances, of each row that it expands; the vector is valid only during the call. */
    public interface Visits {
        void visited(int node, float[] vector);
    }

    private final DiskGraph graph;
    private final SearchCounts counts;
    private final DiskLayout layout;
    private final ProductCodes codes;
    private final SearchRequest request;
    /** Number of nearest nodes with rows that may be found that the search keeps and reads, with all others that are as near. */
    private final int width;

    private final PageReads pageReads;
    private final float[] query;
    private final BlockReads reads;
    private final @Nullable Visits visits;
    private final float[] distances;
    private final boolean hasDistances;
    private final float[] vector;
    private final byte[] code;
    private final boolean isFiltered;
    private final NodeMarks seen = new NodeMarks();
    /** Candidates whose equal ones are candidates too, and these. */
    private final NodeMarks joined = new NodeMarks();
    /** Of each candidate with equal nodes those that were not added with it; a repair may take it from its ring meanwhile. */
    private final Map<Integer, int[]> twins = new HashMap<>();
    /** Whether nodes were met that have equal ones since these were added. */
    private boolean hasTwins;
    /** How many of the running ring were added, and whether one more may be near enough. */
    private int twinsAdded;

    private boolean isTwinNear;

    private Nearest candidates = new Nearest(1);
    private Nearest nearest = new Nearest(1);

    /** Nodes whose pages are being read, and the blocks that are read for them, each for one page. */
    private final int[] reading = new int[MAX_READING];

    private final long[] readingBlocks = new long[MAX_READING];
    private int readingCount;
    /** Nodes whose pages moved while they were read, or that wait for a block's earlier read. */
    private final int[] retries = new int[MAX_READING];

    private int retryCount;
    private final long[] blocks = new long[PageReads.MAX];
    /** Max concurrent reads now. */
    private int maxInFlight;

    /** Whether the search compares the codes of all allowed nodes instead of following edges. */
    private boolean scansCodes;
    /** Whether that scan is still running, and its next node. */
    private boolean scans;

    private int scanned;
    /** A copy of the page that was read last on behalf of an update, its block, and its next node to consider; null for none. */
    private @Nullable NodePage lastPage;

    private long lastBlock;
    private int lastNext;
    private boolean cutShort;
    private int pagesRead;
    private int pagesInMemory;
    private int expanded;
    /** Those of the expanded nodes whose rows may not be found. */
    private int refused;

    private int damaged;
    private long codesRead;
    private final boolean prefetches;
    private long parkedAt;
    private long stalledNanos;
    private long busyNanos;

    /**
     * Creates a search on behalf of an update.
     *
     * @param request its k and width
     * @param visits called with the nodes that it expands; it then finds nothing itself, and a slice expands the nodes that one page was
     *     read for, or one other node of it
     * @param distances from {@link ProductCodes#distances}
     */
    public BeamSearch(
            DiskGraph graph,
            SearchCounts counts,
            SearchRequest request,
            PageReads pageReads,
            BlockReads reads,
            Visits visits,
            float[] distances) {
        this(graph, graph.codes(), counts, request, pageReads, false, request.query(), reads, visits, distances, true);
    }

    /**
     * Creates a search for a caller.
     *
     * @param codes of the table, kept until the search has ended
     */
    BeamSearch(
            DiskGraph graph,
            ProductCodes codes,
            SearchCounts counts,
            SearchRequest request,
            PageReads pageReads,
            boolean prefetches,
            BlockReads reads) {
        this(
                graph,
                codes,
                counts,
                request,
                pageReads,
                prefetches,
                Space.of(graph.metric(), request.query()),
                reads,
                null,
                new float[graph.layout().codeBytes() * DiskLayout.CENTROIDS],
                false);
    }

    private BeamSearch(
            DiskGraph graph,
            ProductCodes codes,
            SearchCounts counts,
            SearchRequest request,
            PageReads pageReads,
            boolean prefetches,
            float[] query,
            BlockReads reads,
            @Nullable Visits visits,
            float[] distances,
            boolean hasDistances) {
        this.graph = graph;
        this.counts = counts;
        this.layout = graph.layout();
        this.codes = codes;
        this.request = request;
        this.width = request.effortOr(DiskSearch.defaultWidth(request.k()));
        this.pageReads = pageReads;
        this.query = codes.inScale(query);
        this.reads = reads;
        this.visits = visits;
        this.distances = distances;
        this.hasDistances = hasDistances;
        this.vector = new float[layout.dimension()];
        this.code = new byte[layout.codeBytes()];
        this.isFiltered = request.filter() != IdFilter.all();
        this.prefetches = prefetches;
        this.maxInFlight = pageReads.isPipelined() ? Math.min(FIRST_READS, pageReads.max()) : pageReads.max();
    }

    /** The first slice. */
    public Step<BeamSearch, SearchResult> begin(BeamSearch same, SearchContext context) throws Exception {
        long began = System.nanoTime();
        plan();
        if (!hasDistances) {
            codes.distances(query, distances);
        }
        if (!scans) {
            meet(graph.entry());
            addSample();
        }
        if (visits != null) {
            // A slice of its own for the sample: each code may miss all caches.
            return new Step.Yield<>(this::resume);
        }
        return proceed(began, context);
    }

    /** Independent loads, one per cache line. */
    private static void touch(float[] lines) {
        float sum = 0;
        for (int i = 0; i < lines.length; i += FLOATS_PER_LINE) {
            sum += lines[i];
        }
        if (sum < 0) {
            // Never; without a use the compiler would drop the loads.
            throw new IllegalStateException("a squared distance is negative");
        }
    }

    /**
     * Begins at the nearest of a sample of nodes as well, by their codes, which are in memory: on the way from the entry every step would
     * read a page. Nodes with neighboring numbers are near each other, so the sample is spread over the graph.
     */
    private void addSample() {
        int nodes = codes.nodes();
        int most = visits == null ? SAMPLE : UPDATE_SAMPLE;
        int count = (int) Math.min(Math.min(nodes, most), request.visitLimit() / VISITS_PER_SAMPLE);
        Nearest best = new Nearest(Math.clamp(width / WIDTH_PER_START, 1, STARTS));
        for (int i = 0; i < count; i++) {
            int node = (int) ((long) i * nodes / count);
            if (codes.state(node) != ProductCodes.FREE && !codes.hangsOn(node)) {
                codesRead++;
                best.add(node, 0, distance(node), true);
            }
        }
        for (int i = 0; i < best.size(); i++) {
            meet(best.node(i));
        }
    }

    /** Runs in a slice, so that an exception of the filter fails this search. */
    private void plan() {
        int nodes = codes.nodes();
        scans = isFiltered && FilterPlan.scans(FilterPlan.allowed(nodes, this::isAllowed), nodes, width);
        scansCodes = scans;
        candidates = new Nearest(Math.min(width, nodes));
        nearest = new Nearest(Math.min(request.k(), nodes));
    }

    /**
     * Whether the codes of all allowed rows must be compared after all, since the graph search has not found as many rows as there are:
     * what may not be found is in the way, or no edge leads to a row.
     */
    private boolean mustScan() {
        if (visits != null || scansCodes || cutShort) {
            return false;
        }
        int most = isFiltered ? request.k() : Math.min(request.k(), graph.live());
        if (!isCrowdedOut() && nearest.size() >= most) {
            return false;
        }
        // Cut short, a scan is worth less than what was found.
        cutShort = codes.nodes() > request.visitLimit() - codesRead;
        return !cutShort;
    }

    private void beginScan() {
        scans = true;
        scansCodes = true;
        retryCount = 0;
        candidates = new Nearest(Math.min(width, codes.nodes()));
        nearest = new Nearest(Math.min(request.k(), codes.nodes()));
    }

    private boolean isCrowdedOut() {
        return visits == null
                ? FilterPlan.isCrowdedOut(refused, candidates.uncounted(), codes.nodes(), width)
                : refused > UPDATE_REFUSED * width;
    }

    private boolean isAllowed(int node) {
        return codes.state(node) == ProductCodes.LIVE
                && (!isFiltered || request.filter().allows(codes.id(node)));
    }

    private Step<BeamSearch, SearchResult> resume(BeamSearch same, SearchContext context) throws Exception {
        long began = System.nanoTime();
        if (parkedAt != 0) {
            stalledNanos += began - parkedAt;
            parkedAt = 0;
        }
        if (prefetches && context.afterMaintenance()) {
            touch(distances);
        }
        return proceed(began, context);
    }

    private Step<BeamSearch, SearchResult> proceed(long began, SearchContext context) {
        int pagesBefore = pagesRead;
        long codesBefore = codesRead;
        int expandedBefore = expanded;
        boolean more;
        if (scans) {
            scan();
            more = scans;
        } else {
            more = takeReads();
        }
        if (!scans && !more) {
            more = readNearest(context);
        }
        context.touched(
                expanded - expandedBefore,
                (long) (pagesRead - pagesBefore) * DiskLayout.PAGE_BYTES
                        + (codesRead - codesBefore) * layout.codeBytes());
        long now = System.nanoTime();
        busyNanos += now - began;
        if (more) {
            return new Step.Yield<>(this::resume);
        }
        if (readingCount == 0 && reads.inFlight() == 0) {
            if (addTwins()) {
                return new Step.Yield<>(this::resume);
            }
            if (mustScan()) {
                beginScan();
                return new Step.Yield<>(this::resume);
            }
            if (visits == null) {
                counts.add(pagesRead, pagesInMemory, expanded, codesRead, stalledNanos, busyNanos);
            }
            return Step.done(answer());
        }
        parkedAt = now;
        return new Step.Park<>(pending(), this::resume);
    }

    private Pending pending() {
        return pageReads.isPipelined() ? reads.any() : reads.all();
    }

    /** Compares the codes of the allowed nodes of one slice. */
    private void scan() {
        int end = Math.min(codes.nodes(), scanned + CODES_PER_SLICE);
        for (; scanned < end; scanned++) {
            if (isAllowed(scanned)) {
                addCandidate(scanned, distance(scanned), true);
            }
        }
        scans = end < codes.nodes() && !isOverLimit();
    }

    private boolean isOverLimit() {
        cutShort |= codesRead >= request.visitLimit();
        return cutShort;
    }

    /** The distance of its code. */
    private float distance(int node) {
        return codes.distance(distances, node, code);
    }

    private boolean addCandidate(int node, float distance, boolean isCounted) {
        codesRead++;
        return candidates.add(node, 0, distance, isCounted);
    }

    /**
     * Adds a node unless it, or a node whose row equals its row, was seen before. Nodes of equal rows would displace the nodes that
     * lead to others, so they wait until the search has come to its end.
     */
    private void meet(int node) {
        // Rows that are added after other codes have taken the place of these are not found.
        if (node >= codes.nodes() || !seen.add(node) || !addCandidate(node, distance(node), isAllowed(node))) {
            return;
        }
        int equal = codes.twin(node);
        if (equal == node) {
            return;
        }
        hasTwins = true;
        int[] others = new int[MIN_TWINS];
        int count = 0;
        // Of more than the width, a search that comes to a later one goes on from there.
        for (; equal != node && count < width; equal = codes.twin(equal)) {
            seen.add(equal);
            if (count == others.length) {
                others = Arrays.copyOf(others, 2 * count);
            }
            others[count++] = equal;
        }
        twins.put(node, Arrays.copyOf(others, count));
    }

    /** Adds the nodes of rows that equal those of the nearest nodes; whether there may be some to expand. */
    private boolean addTwins() {
        boolean mayAdd = hasTwins && !scansCodes && !isCrowdedOut();
        hasTwins = false;
        if (!mayAdd) {
            return false;
        }
        int[] met = Arrays.stream(candidates.nodes()).filter(joined::add).toArray();
        isTwinNear = true;
        for (int i = 0; i < met.length && isTwinNear; i++) {
            twinsAdded = 0;
            if (Arrays.stream(twins.getOrDefault(met[i], NONE)).allMatch(this::addTwin)) {
                codes.forEachTwin(met[i], this::addTwin);
            }
        }
        return true;
    }

    /** Returns whether more of the same ring may be added. */
    private boolean addTwin(int equal) {
        if (isAllowed(equal) && joined.add(equal)) {
            isTwinNear = addCandidate(equal, distance(equal), true);
            twinsAdded++;
        }
        return twinsAdded < width && isTwinNear;
    }

    /** Processes completed reads; returns whether some may be left for another slice. */
    private boolean takeReads() {
        if (expandsOther()) {
            return true;
        }
        int before = expanded;
        for (BlockReads.Read read = reads.next(); read != null; read = reads.next()) {
            try {
                take(read);
            } finally {
                reads.giveBack(read);
            }
            if (visits != null || expanded - before >= MAX_FROM_PAGES) {
                return true;
            }
        }
        return false;
    }

    /** Expands all nodes that a block was read for, of one page unless the block was reused meanwhile, and other nodes of that page. */
    private void take(BlockReads.Read read) {
        pagesRead++;
        if (visits != null) {
            counts.addUpdatePage();
        }
        maxInFlight = Math.min(maxInFlight + 1, pageReads.max());
        NodePage page = null;
        boolean whole = false;
        int left = 0;
        for (int i = 0; i < readingCount; i++) {
            int node = reading[i];
            if (readingBlocks[i] != read.block()) {
                reading[left] = node;
                readingBlocks[left++] = readingBlocks[i];
                continue;
            }
            int number = layout.pageOf(node);
            if (page == null || page.number() != number) {
                boolean isRead = read.failure() == null;
                page = new NodePage(layout, number, isRead ? read.memory() : MemorySegment.NULL);
                whole = isRead && page.isWhole();
            }
            if (whole && page.isSound(node, graph.codes().nodes())) {
                expand(page, node);
            } else if (graph.hasMoved(number, read.block())) {
                retries[retryCount++] = node;
            } else {
                damaged++;
                graph.damaged(number, read.failure());
            }
        }
        readingCount = left;
        if (whole && page != null) {
            if (visits == null) {
                expandOthers(page);
            } else {
                lastPage = page.copy();
                lastBlock = read.block();
                lastNext = layout.firstNode(page.number());
            }
        }
    }

    /** On behalf of an update: expands one more node of the page that was read last, if one is among the nearest; whether it did. */
    private boolean expandsOther() {
        NodePage page = lastPage;
        if (page == null) {
            return false;
        }
        int end = Math.min(layout.firstNode(page.number()) + layout.nodesPerPage(), codes.nodes());
        while (lastNext < end && !graph.hasMoved(page.number(), lastBlock)) {
            int node = lastNext++;
            if (page.isSound(node, graph.codes().nodes()) && candidates.take(node, distance(node))) {
                expand(page, node);
                return true;
            }
        }
        lastPage = null;
        return false;
    }

    /**
     * Expands the other nodes of a page that was read, if they are among the nearest: their page need not be read again. A node that
     * was put onto the page after it was read, perhaps in the place of another one, is left, and read later.
     */
    private void expandOthers(NodePage page) {
        int begin = layout.firstNode(page.number());
        int end = Math.min(begin + layout.nodesPerPage(), codes.nodes());
        for (int node = begin; node < end && (scansCodes || codesRead < request.visitLimit()); node++) {
            if (codes.state(node) == ProductCodes.FREE
                    || codes.id(node) != page.id(node)
                    || !page.isSound(node, graph.codes().nodes())) {
                continue;
            }
            if (!scansCodes && !codes.hangsOn(node)) {
                meet(node);
            }
            if (candidates.take(node, distance(node))) {
                expand(page, node);
            }
        }
    }

    private void expand(NodePage page, int node) {
        expanded++;
        long id = page.id(node);
        boolean isRow = codes.isRow(node, id);
        if (isRow && visits != null) {
            codes.vector(page, node, vector);
            visits.visited(node, vector);
        } else if (isRow && (!isFiltered || request.filter().allows(id))) {
            codes.vector(page, node, vector);
            nearest.addRow(node, id, Vectors.squaredDistance(query, vector));
        } else {
            refused++;
        }
        // After a scan of all codes, edges lead to nothing new.
        if (!scansCodes) {
            for (int neighbor : page.neighbors(node)) {
                meet(neighbor);
            }
        }
    }

    /** The next node to expand, or -1. */
    private int next() {
        return retryCount > 0 ? retries[--retryCount] : candidates.take();
    }

    /**
     * Expands the nearest nodes whose pages are in memory, and starts reads for others, each page once.
     *
     * @return whether there are more nodes that need no read
     */
    private boolean readNearest(SearchContext context) {
        if (visits != null && reads.inFlight() > maxInFlight / 2) {
            // Updates are less urgent than searches, and a submission costs more than the rest of a step:
            // several reads at once.
            return false;
        }
        int count = 0;
        int readingBefore = readingCount;
        int fromMemory = 0;
        int maxFromMemory = visits == null ? MAX_FROM_MEMORY : 1;
        // After a scan of codes alone, the best nodes must still be read.
        boolean mayStart = scansCodes || (!isOverLimit() && !isCrowdedOut());
        while (mayStart
                && reads.inFlight() + count < maxInFlight
                && readingCount < MAX_READING
                && fromMemory < maxFromMemory) {
            int node = next();
            if (node < 0) {
                mayStart = false;
                continue;
            }
            int number = layout.pageOf(node);
            NodePage changed = graph.changed(number);
            int block = graph.block(number);
            if (changed == null && block == BlockMap.NOWHERE) {
                // Published by now, since an edge led here or the node is in use.
                changed = graph.changed(number);
            }
            if (changed != null) {
                fromMemory++;
                pagesInMemory++;
                expand(changed, node);
            } else if (block != BlockMap.NOWHERE) {
                int beside = readFrom(block);
                if (beside >= 0 && layout.pageOf(beside) != number) {
                    // The block was reused for this page since: the read for the other page says nothing about this
                    // one.
                    retries[retryCount++] = node;
                    mayStart = false;
                    continue;
                }
                if (beside < 0) {
                    blocks[count++] = block;
                }
                reading[readingCount] = node;
                readingBlocks[readingCount++] = block;
            }
        }
        if (count > 0) {
            try {
                reads.read(context, graph.file(), blocks, count);
            } catch (BlockReads.BuffersExhaustedException busy) {
                if (busy.isForGood()) {
                    throw busy;
                }
                // Others give buffers back: the nodes are tried again in the next slice, or when reads of this search
                // complete.
                while (readingCount > readingBefore) {
                    retries[retryCount++] = reading[--readingCount];
                }
                return reads.inFlight() == 0;
            }
        }
        return fromMemory == maxFromMemory && readingCount == 0;
    }

    /** A node that the block is being read for, or -1. */
    private int readFrom(long block) {
        for (int i = 0; i < readingCount; i++) {
            if (readingBlocks[i] == block) {
                return reading[i];
            }
        }
        return -1;
    }

    private SearchResult answer() {
        long[] ids = new long[nearest.size()];
        float[] exact = new float[ids.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = nearest.id(i);
            exact[i] = codes.reported(graph.metric(), nearest.distance(i));
        }
        return SearchResult.sorted(ids, exact)
                .within(request.radius())
                .with(new SearchCost(codesRead, expanded, pagesRead, damaged, 0, 0), cutShort);
    }
}
