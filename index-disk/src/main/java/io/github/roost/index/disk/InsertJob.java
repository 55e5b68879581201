package io.github.roost.index.disk;

import io.github.roost.core.io.BlockBuffersExhaustedException;
import io.github.roost.core.io.BlockReads;
import io.github.roost.core.task.Pending;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Inserts a row: a search for nodes near it, a choice of neighbours among these by their vectors, the node's page, and then an edge
 * back from each neighbour. A full neighbour gives up one of its own for that, chosen by their codes (Guo and Lu, "OdinANN", FAST
 * 2026, inserts so, directly), and the new node takes that one over if it has room, so that what led to it leads to it still, over
 * the new node. Between two pieces nothing is locked: a neighbour's page is taken, changed and published in one.
 */
final class InsertJob extends WriterJob {
    private static final int WIDTH = 100;
    private static final int READS = 8;
    private static final int MOST_CANDIDATES = 400;
    static final float ALPHA = 1.2f;
    /** Distances between vectors of a piece of a prune: some microseconds. */
    static final int DISTANCES_PER_PIECE = 32;
    /** Parts of the table of distances of a piece, each 256 distances of some components. */
    private static final int PARTS_PER_PIECE = 2;

    private record Candidate(int node, float distance, float[] vector) {}

    /** What comes next. */
    private enum Phase {
        DISTANCES,
        SEARCH,
        PRUNE,
        LOAD,
        PUBLISH,
        LINK
    }

    private final DiskTable table;
    private final DiskWriter writer;
    private final DiskGraph graph;
    private final Codes codes;
    private final DiskLayout layout;
    private final Update update;
    private final float[] vector;
    private final float[] distances;
    private final PageLoads pages;
    private final List<Candidate> candidates = new ArrayList<>();
    private Phase phase = Phase.DISTANCES;
    private int part;
    private @Nullable DiskWalk walk;
    private @Nullable Step<DiskWalk, DiskAnswer> step;
    private @Nullable PruneSteps prune;
    private int node;
    private int[] neighbors = {};
    private int linked;
    private int kept;
    /** The choice of a full neighbour, and the page that it is made of. */
    private @Nullable PruneSteps linkPrune;

    private @Nullable NodePage linkPage;

    InsertJob(DiskTable table, DiskWriter writer, Update update, float[] vector, BlockReads reads) {
        super(reads, writer::wake);
        this.table = table;
        this.writer = writer;
        this.graph = table.graph();
        this.codes = graph.codes();
        this.layout = graph.layout();
        this.update = update;
        this.vector = vector;
        this.distances = new float[layout.codeBytes() * DiskLayout.CENTROIDS];
        this.pages = new PageLoads(table, reads);
    }

    Update update() {
        return update;
    }

    @Override
    Progress run(SearchContext context) throws Exception {
        return switch (phase) {
            case DISTANCES -> distances();
            case SEARCH -> search(context);
            case PRUNE -> prune();
            case LOAD -> load(context);
            case PUBLISH -> publish();
            case LINK -> link(context);
        };
    }

    private Progress distances() {
        int end = Math.min(part + PARTS_PER_PIECE, layout.codeBytes());
        codes.distances(vector, distances, part, end);
        part = end;
        if (part == layout.codeBytes()) {
            phase = Phase.SEARCH;
        }
        return Progress.RAN;
    }

    private void visited(int visited, float[] itsVector) {
        if (codes.state(visited) == Codes.LIVE) {
            float[] copy = itsVector.clone();
            candidates.add(new Candidate(visited, DiskWalk.squaredDistance(vector, copy), copy));
        }
    }

    private Progress search(SearchContext context) throws Exception {
        try {
            return searchStep(context);
        } catch (BlockBuffersExhaustedException busy) {
            // Too many read at once: from the beginning.
            walk = null;
            step = null;
            candidates.clear();
            return Progress.RAN;
        }
    }

    private Progress searchStep(SearchContext context) throws Exception {
        DiskWalk same = walk;
        if (same == null) {
            DiskSearch how = DiskSearch.of(1, WIDTH).withReads(READS, DiskSearch.Mode.PIPELINED);
            same = new DiskWalk(table, how, vector, reads(), this::visited, distances);
            walk = same;
        }
        step = switch (step) {
            case null -> same.begin(same, context);
            case Step.Park<DiskWalk, DiskAnswer> park -> park.next().step(same, context);
            case Step.Yield<DiskWalk, DiskAnswer> pause -> pause.next().step(same, context);
            default -> throw new IllegalStateException("a walk does nothing but yield, park and end");
        };
        if (step instanceof Step.Park<DiskWalk, DiskAnswer> park) {
            return waitFor(park.pending());
        }
        if (step instanceof Step.Done<DiskWalk, DiskAnswer>) {
            walk = null;
            step = null;
            beginPrune();
        }
        return Progress.RAN;
    }

    private void beginPrune() {
        candidates.removeIf(candidate -> codes.state(candidate.node) != Codes.LIVE);
        candidates.sort(
                Comparator.comparingDouble((Candidate one) -> one.distance).thenComparingInt(one -> one.node));
        int count = Math.min(candidates.size(), MOST_CANDIDATES);
        int[] nodes = new int[count];
        float[][] vectors = new float[count][];
        float[] fromNode = new float[count];
        for (int i = 0; i < count; i++) {
            nodes[i] = candidates.get(i).node;
            vectors[i] = candidates.get(i).vector;
            fromNode[i] = candidates.get(i).distance;
        }
        prune = new PruneSteps(nodes, vectors, fromNode, layout.degree(), ALPHA);
        phase = Phase.PRUNE;
    }

    private Progress prune() {
        PruneSteps choice = Objects.requireNonNull(prune);
        long began = System.nanoTime();
        boolean more = choice.run(DISTANCES_PER_PIECE);
        writer.pruned(System.nanoTime() - began);
        if (!more) {
            neighbors = choice.result();
            if (neighbors.length == 0) {
                neighbors = writer.anyRow();
            }
            prune = null;
            candidates.clear();
            node = writer.takeNode();
            phase = Phase.LOAD;
        }
        return Progress.RAN;
    }

    private Progress load(SearchContext context) {
        Set<Integer> numbers = new LinkedHashSet<>();
        numbers.add(layout.pageOf(node));
        for (int neighbor : neighbors) {
            numbers.add(layout.pageOf(neighbor));
        }
        Pending pending = pages.load(context, numbers);
        if (pending != null) {
            return waitFor(pending);
        }
        if (pages.isDamaged(layout.pageOf(node))) {
            node = writer.takeNode();
            return Progress.RAN;
        }
        phase = Phase.PUBLISH;
        return Progress.RAN;
    }

    /** The node is there before an edge to it is. */
    private Progress publish() {
        NodePage page = pages.page(layout.pageOf(node));
        if (page == null) {
            phase = Phase.LOAD;
            return Progress.RAN;
        }
        codes.put(node, update.id(), codes.encode(distances), Codes.FREE);
        NodePage with = page.copy();
        with.put(node, update.id(), vector, neighbors, neighbors.length);
        graph.publish(with);
        phase = Phase.LINK;
        return Progress.RAN;
    }

    private Progress link(SearchContext context) {
        if (linked == neighbors.length) {
            return finish();
        }
        int neighbor = neighbors[linked];
        int number = layout.pageOf(neighbor);
        NodePage page = pages.page(number);
        if (page == null) {
            if (pages.isDamaged(number)) {
                next();
                return Progress.RAN;
            }
            Pending pending = pages.load(context, List.of(number));
            return pending == null ? Progress.RAN : waitFor(pending);
        }
        int count = page.neighborCount(neighbor);
        if (count < layout.degree()) {
            int[] more = Arrays.copyOf(page.neighbors(neighbor), count + 1);
            more[count] = node;
            change(neighbor, more);
            return Progress.RAN;
        }
        if (linkPrune == null || !page.equals(linkPage)) {
            linkPage = page;
            linkPrune = among(page, neighbor);
            return Progress.RAN;
        }
        long began = System.nanoTime();
        boolean more = linkPrune.run(DISTANCES_PER_PIECE);
        writer.pruned(System.nanoTime() - began);
        if (!more) {
            int[] its = page.neighbors(neighbor);
            int least = linkPrune.least();
            boolean mustKeep = linked == neighbors.length - 1 && kept == 0;
            if (least == node && mustKeep) {
                // One edge at least must lead to the node.
                least = its[its.length - 1];
            }
            if (least == node) {
                next();
            } else {
                takeOver(least);
                its[indexOf(its, least)] = node;
                change(neighbor, its);
            }
        }
        return Progress.RAN;
    }

    private static int indexOf(int[] all, int one) {
        int index = 0;
        while (all[index] != one) {
            index++;
        }
        return index;
    }

    /** The node leads to another one, if it has room. */
    private void takeOver(int other) {
        NodePage page = pages.page(layout.pageOf(node));
        if (page == null || other == node) {
            return;
        }
        int[] its = page.neighbors(node);
        if (its.length < layout.degree() && Arrays.stream(its).noneMatch(one -> one == other)) {
            int[] more = Arrays.copyOf(its, its.length + 1);
            more[its.length] = other;
            NodePage with = page.copy();
            with.setNeighbors(node, more, more.length);
            graph.publish(with);
        }
    }

    /** The neighbours of a full node and the new one, by their codes. */
    private PruneSteps among(NodePage page, int neighbor) {
        float[] its = new float[layout.dimension()];
        page.vector(neighbor, its);
        int[] nodes = Arrays.copyOf(page.neighbors(neighbor), layout.degree() + 1);
        nodes[layout.degree()] = node;
        return byCodes(codes, its, nodes, layout.degree());
    }

    /** A choice among nodes by what their codes stand for. */
    static PruneSteps byCodes(Codes codes, float[] from, int[] nodes, int most) {
        record Near(int node, float distance, float[] vector) {}
        Near[] all = new Near[nodes.length];
        for (int i = 0; i < nodes.length; i++) {
            float[] decoded = new float[from.length];
            codes.decode(nodes[i], decoded);
            all[i] = new Near(nodes[i], DiskWalk.squaredDistance(from, decoded), decoded);
        }
        Arrays.sort(all, Comparator.comparingDouble((Near one) -> one.distance).thenComparingInt(one -> one.node));
        float[] distances = new float[all.length];
        float[][] vectors = new float[all.length][];
        int[] sorted = new int[all.length];
        for (int i = 0; i < all.length; i++) {
            sorted[i] = all[i].node;
            distances[i] = all[i].distance;
            vectors[i] = all[i].vector;
        }
        return new PruneSteps(sorted, vectors, distances, most, ALPHA);
    }

    private void change(int neighbor, int[] to) {
        // Taken again: the node may lie on the same page.
        NodePage with =
                Objects.requireNonNull(pages.page(layout.pageOf(neighbor))).copy();
        with.setNeighbors(neighbor, to, to.length);
        graph.publish(with);
        kept++;
        next();
    }

    private void next() {
        linked++;
        linkPrune = null;
        linkPage = null;
    }

    private Progress finish() {
        writer.inserted(update, node, kept == 0);
        return Progress.DONE;
    }
}
