package io.github.roost.index.disk.update;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Pending;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.search.SearchCounts;
import io.github.roost.io.BlockReads;
import io.github.roost.vector.Vectors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Removes deleted nodes from the graph: each node with deleted neighbors gets the neighbors of these as candidates, and chooses
 * among all by their codes (Singh et al., "FreshDiskANN", 2021, algorithm 4). After one pass over all pages no edge leads to nodes
 * that were deleted when it began, since inserts add no edge to them ({@link #takesOut}); then the nodes are free for new rows. If a page could not
 * be read, its edges are unknown, and no node is freed. If all neighbors of a node are deleted, it follows their deleted neighbors too, up to a
 * limit. Nodes that are deleted during the pass keep their place, so their edges are replaced as well.
 *
 * <p>At the end it links each live row that no edge was seen to lead to: one of the row's neighbors gets an edge to it. If that
 * neighbor is full, the edge replaces its last edge, which the row takes over. As no node was reached through the row, none
 * becomes unreachable.
 */
final class RepairJob extends WriterJob {
    private static final int MAX_CANDIDATES = 400;
    private static final int MAX_DELETED_FOLLOWED = 64;
    /** Pages read ahead. */
    private static final int AHEAD = 16;
    /** Codes decoded per piece: some microseconds. */
    private static final int CODES_PER_PIECE = 16;
    /** Nodes without deleted neighbors that a piece passes. */
    private static final int NODES_PER_PIECE = 4;

    private final DiskWriter writer;
    private final DiskGraph graph;
    private final DiskLayout layout;
    private final PageLoads pages;
    private final BitSet deleted;
    private final int end;
    /** Deleted nodes per node of the pass, for progress. */
    private final double perNode;

    /** Neighbors of deleted nodes, by node. */
    private final Map<Integer, int[]> theirs = new HashMap<>();

    /** Rows that an edge leads to, and nodes that are not live rows. */
    private final BitSet ledTo = new BitSet();

    private int node;
    private int orphan;
    /** Whether some page could not be read. */
    private boolean isIncomplete;

    private @Nullable Choice choice;

    RepairJob(DiskGraph graph, SearchCounts counts, DiskWriter writer, BlockReads reads) {
        super(reads, writer::wake);
        this.writer = writer;
        this.graph = graph;
        this.layout = graph.layout();
        this.pages = new PageLoads(graph, counts, reads);
        this.end = codes().nodes();
        this.deleted = new BitSet(end);
        for (int i = 0; i < end; i++) {
            deleted.set(i, codes().state(i) == ProductCodes.DEAD);
        }
        this.perNode = (double) deleted.cardinality() / Math.max(1, end);
    }

    /** Others take their place while this runs. */
    private ProductCodes codes() {
        return graph.codes();
    }

    /** Whether a node was deleted when this began. */
    boolean takesOut(int one) {
        return deleted.get(one);
    }

    @Override
    Progress run(SearchContext context) {
        for (int i = 0; i < NODES_PER_PIECE; i++) {
            if (node == end) {
                orphan = ledTo.nextClearBit(orphan);
                if (orphan >= end) {
                    if (isIncomplete) {
                        writer.notRepaired();
                    } else {
                        writer.repaired(deleted);
                    }
                    return Progress.DONE;
                }
                Progress progress = hangOn(context, orphan);
                if (progress != null) {
                    return progress;
                }
                orphan++;
                continue;
            }
            Progress progress = runNode(context);
            if (progress != null) {
                return progress;
            }
            node++;
            writer.takesOut(perNode);
        }
        return Progress.RAN;
    }

    /** One piece of work on the node; null if the node is done. */
    private @Nullable Progress runNode(SearchContext context) {
        boolean isLive = codes().state(node) == ProductCodes.LIVE;
        if (!isLive) {
            ledTo.set(node);
        }
        if (codes().state(node) == ProductCodes.FREE || deleted.get(node)) {
            return null;
        }
        int number = layout.pageOf(node);
        NodePage page = pages.page(number);
        if (page == null) {
            if (pages.isDamaged(number)) {
                isIncomplete = true;
                ledTo.set(node);
                return null;
            }
            return load(context, ahead(number));
        }
        if (!page.isSound(node, codes().nodes())) {
            // Not linked yet: a running insert.
            return null;
        }
        int[] before = page.neighbors(node);
        if (Arrays.stream(before).noneMatch(deleted::get)) {
            if (isLive) {
                ledTo(before);
            }
            return null;
        }
        if (choice == null || choice.owner != node || !page.equals(choice.page)) {
            Set<Integer> candidates = new LinkedHashSet<>();
            Set<Integer> missing = candidates(before, candidates);
            if (!missing.isEmpty()) {
                return load(context, missing);
            }
            choice = new Choice(page, candidates);
            return Progress.RAN;
        }
        PruneSteps prune = choice.prune();
        if (prune == null) {
            return Progress.RAN;
        }
        long began = System.nanoTime();
        boolean more = prune.run(InsertJob.DISTANCES_PER_PIECE);
        writer.pruned(System.nanoTime() - began);
        if (more) {
            return Progress.RAN;
        }
        NodePage with = page.copy();
        int[] chosen = prune.filled();
        if (isLive) {
            ledTo(chosen);
        }
        with.setNeighbors(node, chosen, chosen.length);
        graph.publish(with);
        choice = null;
        return null;
    }

    private void ledTo(int[] nodes) {
        for (int one : nodes) {
            ledTo.set(one);
            writer.linked(one);
        }
    }

    /** Adds an edge to a row; null if the row is done. */
    private @Nullable Progress hangOn(SearchContext context, int row) {
        int number = layout.pageOf(row);
        if (codes().state(row) != ProductCodes.LIVE || row == graph.entry() || pages.isDamaged(number)) {
            return null;
        }
        if (codes().hangsOn(row)) {
            for (int twin = codes().twin(row); twin != row; twin = codes().twin(twin)) {
                if (isLedTo(twin) && !codes().hangsOn(twin)) {
                    // So do all others that hang in this ring.
                    ledToRing(row);
                    return null;
                }
            }
        }
        Progress progress = hangOnNeighbor(context, row, number);
        if (progress == null) {
            ledTo.set(row);
            writer.linked(row);
        }
        return progress;
    }

    private void ledToRing(int row) {
        ledTo.set(row);
        for (int twin = codes().twin(row); twin != row; twin = codes().twin(twin)) {
            if (codes().hangsOn(twin)) {
                ledTo.set(twin);
            }
        }
    }

    /** Whether a row stays in the graph and an edge leads to it, or searches begin at it. */
    private boolean isLedTo(int one) {
        return codes().state(one) == ProductCodes.LIVE && (one == graph.entry() || (one < end && ledTo.get(one)));
    }

    private @Nullable Progress hangOnNeighbor(SearchContext context, int row, int number) {
        NodePage page = pages.page(number);
        if (page == null) {
            return load(context, List.of(number));
        }
        int[] its = IntStream.concat(
                        // Not a row to which no edge leads either.
                        Arrays.stream(page.neighbors(row)).filter(this::isLedTo), Arrays.stream(writer.anyRow()))
                .toArray();
        for (int neighbor : its) {
            int from = layout.pageOf(neighbor);
            if (neighbor == row || pages.isDamaged(from)) {
                continue;
            }
            NodePage sources = pages.page(from);
            if (sources == null) {
                return load(context, List.of(from));
            }
            hangOn(row, page, neighbor, sources.neighbors(neighbor));
            return null;
        }
        return null;
    }

    private void hangOn(int row, NodePage page, int from, int[] before) {
        int[] edges = before;
        if (edges.length < layout.degree()) {
            edges = Arrays.copyOf(edges, edges.length + 1);
        } else {
            int given = edges[edges.length - 1];
            int[] its = page.neighbors(row);
            if (Arrays.stream(its).noneMatch(one -> one == given)) {
                if (its.length < layout.degree()) {
                    its = Arrays.copyOf(its, its.length + 1);
                }
                its[its.length - 1] = given;
                NodePage with = page.copy();
                with.setNeighbors(row, its, its.length);
                graph.publish(with);
            }
        }
        edges[edges.length - 1] = row;
        // The latest version: both may be on the same page.
        NodePage with = Objects.requireNonNull(pages.page(layout.pageOf(from))).copy();
        with.setNeighbors(from, edges, edges.length);
        graph.publish(with);
    }

    private List<Integer> ahead(int number) {
        if (!pages.isTaking()) {
            pages.clear();
        }
        List<Integer> numbers = new ArrayList<>();
        for (int i = number; i < Math.min(number + AHEAD, layout.pages(end)); i++) {
            numbers.add(i);
        }
        return numbers;
    }

    private Progress load(SearchContext context, Iterable<Integer> numbers) {
        Pending pending = pages.load(context, numbers);
        return pending == null ? Progress.RAN : waitFor(pending);
    }

    /** Adds the live rows among the neighbors and, through deleted ones, beyond; returns the pages that must be read first. */
    private Set<Integer> candidates(int[] before, Set<Integer> candidates) {
        Set<Integer> missing = new LinkedHashSet<>();
        Set<Integer> followed = new LinkedHashSet<>();
        List<Integer> frontier = new ArrayList<>();
        add(before, candidates, frontier);
        for (int i = 0; i < frontier.size() && missing.isEmpty(); i++) {
            int dead = frontier.get(i);
            boolean isOwn = i < before.length;
            if (!followed.add(dead) || (!isOwn && !candidates.isEmpty()) || followed.size() > MAX_DELETED_FOLLOWED) {
                continue;
            }
            int[] its = neighborsOf(dead);
            if (its == null) {
                missing.add(layout.pageOf(dead));
            } else {
                add(its, candidates, frontier);
            }
        }
        // All pages known to be missing, to read them at once.
        for (int neighbor : before) {
            if (!missing.isEmpty() && deleted.get(neighbor) && neighborsOf(neighbor) == null) {
                missing.add(layout.pageOf(neighbor));
            }
        }
        return missing;
    }

    private void add(int[] nodes, Set<Integer> candidates, List<Integer> frontier) {
        for (int one : nodes) {
            if (deleted.get(one)) {
                frontier.add(one);
                addTwin(one, candidates);
            } else if (one != node && codes().state(one) == ProductCodes.LIVE && candidates.size() < MAX_CANDIDATES) {
                candidates.add(one);
            }
        }
    }

    /** Adds a live row that equals a deleted one, in whose place it comes. */
    private void addTwin(int dead, Set<Integer> candidates) {
        int left = MAX_DELETED_FOLLOWED;
        for (int twin = codes().twin(dead); twin != dead && left > 0; twin = codes().twin(twin)) {
            if (twin != node && codes().state(twin) == ProductCodes.LIVE) {
                candidates.add(twin);
                return;
            }
            left--;
        }
    }

    /** The neighbors of a deleted node; null if its page must be read first. */
    private int @Nullable [] neighborsOf(int dead) {
        int[] known = theirs.get(dead);
        if (known != null) {
            return known;
        }
        int number = layout.pageOf(dead);
        NodePage page = pages.page(number);
        if (page == null && !pages.isDamaged(number)) {
            return null;
        }
        int[] its = page != null && page.isSound(dead, codes().nodes()) ? page.neighbors(dead) : new int[0];
        theirs.put(dead, its);
        return its;
    }

    /** A node's choice of neighbors among candidates, by decoded codes(). */
    private final class Choice {
        /** If it is deleted meanwhile, the next node does not take over the choice, even on the same page. */
        private final int owner = node;

        private final NodePage page;
        private final float[] from = new float[layout.dimension()];
        private final int[] nodes;
        private final float[][] vectors;
        private final float[] distances;
        private final byte[] code = new byte[layout.codeBytes()];
        private int decoded;
        private @Nullable PruneSteps prune;

        Choice(NodePage page, Set<Integer> candidates) {
            this.page = page;
            codes().vector(page, owner, from);
            this.nodes = candidates.isEmpty()
                    ? Arrays.stream(writer.anyRow()).filter(one -> one != owner).toArray()
                    : candidates.stream().mapToInt(Integer::intValue).toArray();
            this.vectors = new float[nodes.length][layout.dimension()];
            this.distances = new float[nodes.length];
        }

        /** The choice, or null while codes are being decoded, some per piece. */
        @Nullable
        PruneSteps prune() {
            if (prune == null) {
                int end = Math.min(decoded + CODES_PER_PIECE, nodes.length);
                for (; decoded < end; decoded++) {
                    codes().decode(nodes[decoded], vectors[decoded], code);
                    distances[decoded] = Vectors.squaredDistance(from, vectors[decoded]);
                }
                if (decoded == nodes.length) {
                    prune = PruneSteps.among(nodes, vectors, distances, nodes.length, layout.degree(), InsertJob.ALPHA);
                }
                return null;
            }
            return prune;
        }
    }
}
