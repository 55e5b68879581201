package io.github.roost.index.disk;

import io.github.roost.core.Neighbors;
import io.github.roost.core.io.BlockRead;
import io.github.roost.core.io.BlockReads;
import io.github.roost.core.task.Pending;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.Step;
import io.github.roost.core.vector.IdFilter;
import java.util.Arrays;

/**
 * One search of a table: keeps the nodes that are nearest by their codes in sight, reads the pages of those that it has not
 * read, and adds their neighbours, until all in sight are read. What it finds is ordered by the vectors themselves, which lie
 * on the pages with the edges.
 *
 * <p>Runs in slices, one at a time, of some microseconds each; the runtime publishes what one writes to the next, and looks at
 * deadline and cancellation before each. Everything here is the search's own and left to the garbage collector, so a search that is
 * cancelled while it is parked has nothing to give back but its reads.
 */
final class DiskWalk {
    /** Codes looked at by a slice, some 100 us. */
    private static final int CODES_PER_SLICE = 4096;
    /** Reads under way at the beginning of a pipelined search. */
    private static final int FIRST_READS = 4;

    /** Nodes that are asked for at once; several may share a page. */
    private static final int MOST_ASKED = 4 * DiskSearch.MOST_READS;

    private final DiskTable table;
    private final DiskLayout layout;
    private final Codes codes;
    private final DiskSearch how;
    private final float[] query;
    private final BlockReads reads;
    private final float[] distances;
    private final float[] vector;
    private Nearest inSight = new Nearest(1);
    private Nearest found = new Nearest(1);
    private final NodeMarks met = new NodeMarks();
    /** Nodes whose pages are under way. */
    private final int[] asked = new int[MOST_ASKED];

    private final long[] blocks = new long[DiskSearch.MOST_READS];
    private int askedCount;
    /** Reads that may be under way at once. */
    private int most;

    /** Whether it looks at the codes of all allowed nodes instead of following edges. */
    private boolean scansCodes;
    /** Whether it still does, and from which node on. */
    private boolean scans;

    private final boolean isFiltered;
    private boolean cutShort;
    private int scanned;
    private int pagesRead;
    private int expanded;
    private int damaged;
    private long codesRead;
    private long parkedAt;
    private long stalledNanos;
    private long busyNanos;

    DiskWalk(DiskTable table, Codes codes, DiskSearch how, float[] query, BlockReads reads) {
        this.table = table;
        this.layout = codes.layout();
        this.codes = codes;
        this.how = how;
        this.query = query;
        this.reads = reads;
        this.distances = new float[layout.codeBytes() * DiskLayout.CENTROIDS];
        this.vector = new float[layout.dimension()];
        this.isFiltered = how.filter() != IdFilter.all();
        this.most = how.mode() == DiskSearch.Mode.PIPELINED ? Math.min(FIRST_READS, how.reads()) : how.reads();
    }

    /** The first slice. */
    Step<DiskWalk, DiskAnswer> begin(DiskWalk same, SearchContext context) throws Exception {
        long began = System.nanoTime();
        plan();
        codes.distances(query, distances);
        if (!scans) {
            meet(table.entry());
        }
        return goOn(began, context);
    }

    /** In a slice, so that what a filter throws fails this search. */
    private void plan() {
        int nodes = layout.nodes();
        int allowed =
                isFiltered ? FilterPlan.allowed(nodes, node -> how.filter().allows(codes.id(node))) : nodes;
        scansCodes = isFiltered && FilterPlan.scans(allowed, nodes, how.width());
        scans = scansCodes;
        inSight = new Nearest(Math.min(scans ? how.width() : FilterPlan.width(how.width(), allowed, nodes), nodes));
        found = new Nearest(Math.min(how.k(), nodes));
    }

    private Step<DiskWalk, DiskAnswer> resume(DiskWalk same, SearchContext context) throws Exception {
        long began = System.nanoTime();
        if (parkedAt != 0) {
            stalledNanos += began - parkedAt;
            parkedAt = 0;
        }
        return goOn(began, context);
    }

    private Step<DiskWalk, DiskAnswer> goOn(long began, SearchContext context) {
        int pagesBefore = pagesRead;
        long codesBefore = codesRead;
        int expandedBefore = expanded;
        if (scans) {
            scan();
        } else {
            takeReads();
        }
        Step<DiskWalk, DiskAnswer> step;
        if (scans) {
            step = new Step.Yield<>(this::resume);
        } else {
            readNearest(context);
            step = reads.inFlight() == 0 && askedCount == 0 ? null : new Step.Park<>(pending(), this::resume);
        }
        context.touched(
                expanded - expandedBefore,
                (long) (pagesRead - pagesBefore) * DiskLayout.PAGE_BYTES
                        + (codesRead - codesBefore) * layout.codeBytes());
        long now = System.nanoTime();
        busyNanos += now - began;
        parkedAt = now;
        return step == null ? Step.done(table.ended(answer())) : step;
    }

    private Pending pending() {
        return how.mode() == DiskSearch.Mode.PIPELINED ? reads.any() : reads.all();
    }

    /** Looks at the codes of the allowed among some nodes. */
    private void scan() {
        int end = Math.min(layout.nodes(), scanned + CODES_PER_SLICE);
        for (; scanned < end; scanned++) {
            if (how.filter().allows(codes.id(scanned))) {
                meet(scanned);
            }
        }
        scans = end < layout.nodes() && !isOverLimit();
    }

    private boolean isOverLimit() {
        cutShort |= codesRead >= how.visitLimit();
        return cutShort;
    }

    private void meet(int node) {
        codesRead++;
        inSight.add(node, codes.distance(distances, node));
    }

    private void takeReads() {
        for (BlockRead read = reads.next(); read != null; read = reads.next()) {
            try {
                take(read);
            } finally {
                reads.giveBack(read);
            }
        }
    }

    private void take(BlockRead read) {
        int number = (int) (read.block() - DiskLayout.SUPERBLOCKS);
        pagesRead++;
        most = Math.min(most + 1, how.reads());
        NodePage page = read.failure() == null ? new NodePage(layout, number, read.memory()) : null;
        boolean whole = page != null && page.isWhole();
        int left = 0;
        for (int i = 0; i < askedCount; i++) {
            int node = asked[i];
            if (layout.pageOf(node) != number) {
                asked[left++] = node;
            } else if (page != null && whole && page.isSound(node)) {
                expand(page, node);
            } else {
                whole = false;
            }
        }
        askedCount = left;
        if (!whole) {
            damaged++;
            table.damaged(number, read.failure());
        }
    }

    private void expand(NodePage page, int node) {
        expanded++;
        if (!isFiltered || how.filter().allows(codes.id(node))) {
            page.vector(node, vector);
            found.add(node, squaredDistance(query, vector));
        }
        // After a look at all that may be found edges lead to nothing new.
        for (int i = 0; !scansCodes && i < page.neighborCount(node); i++) {
            int neighbor = page.neighbor(node, i);
            if (met.add(neighbor)) {
                meet(neighbor);
            }
        }
    }

    /** Has the nearest that have not been read be read, each page once. */
    private void readNearest(SearchContext context) {
        int count = 0;
        // After a look at the codes alone, what they gave is still to be read.
        if (isOverLimit() && !scansCodes) {
            return;
        }
        while (reads.inFlight() + count < most && askedCount < MOST_ASKED) {
            int node = inSight.take();
            if (node < 0) {
                break;
            }
            met.add(node);
            int page = layout.pageOf(node);
            if (!isAsked(page)) {
                blocks[count++] = layout.blockOf(page);
            }
            asked[askedCount++] = node;
        }
        if (count > 0) {
            reads.read(context, table.file(), blocks, count);
        }
    }

    private boolean isAsked(int page) {
        for (int i = 0; i < askedCount; i++) {
            if (layout.pageOf(asked[i]) == page) {
                return true;
            }
        }
        return false;
    }

    private DiskAnswer answer() {
        long[] ids = new long[found.size()];
        float[] exact = new float[ids.length];
        Arrays.setAll(ids, i -> codes.id(found.node(i)));
        for (int i = 0; i < exact.length; i++) {
            exact[i] = table.reported(found.distance(i));
        }
        return new DiskAnswer(
                Neighbors.sorted(ids, exact),
                pagesRead,
                expanded,
                codesRead,
                cutShort,
                damaged,
                stalledNanos,
                busyNanos);
    }

    /** Four sums, so that the additions need not wait for each other. */
    static float squaredDistance(float[] a, float[] b) {
        float sum0 = 0;
        float sum1 = 0;
        float sum2 = 0;
        float sum3 = 0;
        int i = 0;
        for (; i + 3 < a.length; i += 4) {
            float d0 = a[i] - b[i];
            float d1 = a[i + 1] - b[i + 1];
            float d2 = a[i + 2] - b[i + 2];
            float d3 = a[i + 3] - b[i + 3];
            sum0 += d0 * d0;
            sum1 += d1 * d1;
            sum2 += d2 * d2;
            sum3 += d3 * d3;
        }
        for (; i < a.length; i++) {
            float difference = a[i] - b[i];
            sum0 += difference * difference;
        }
        return sum0 + sum1 + (sum2 + sum3);
    }
}
