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
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Removes deleted nodes from the graph: each node with deleted neighbors gets the neighbors of these as candidates, and chooses
 * among all by their codes (Singh et al., "FreshDiskANN", 2021, algorithm 4). After one pass over all pages no edge leads to nodes
 * that were deleted when it began, but from one of them to another, since inserts add no edge to them ({@link #takesOut}); then the nodes become
 * free for new rows, some per piece. If a page could not be read, its edges are unknown, and no node is freed. If all neighbors of a node are
 * deleted, it follows their deleted neighbors too, up to a limit. Nodes that are deleted during the pass keep their place, so their edges are
 * replaced as well; it knows these, not those deleted before, which may be too many to gather in one piece.
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
    /** Deleted nodes considered per piece: some microseconds. */
    private static final int CONSIDERED_PER_PIECE = 4;
    /** Codes decoded per piece: some microseconds. */
    private static final int CODES_PER_PIECE = 16;
    /** Nodes without deleted neighbors that a piece passes. */
    private static final int NODES_PER_PIECE = 4;
    /** Nodes of a ring that a piece looks at: some microseconds. */
    private static final int TWINS_PER_PIECE = 64;
    /** Nodes that a piece frees, and those that it passes: some microseconds each. */
    private static final int FREED_PER_PIECE = 16;

    private static final int PASSED_PER_PIECE = 256;
    /** Nodes per chunk of {@link #theirs}. */
    private static final int CHUNK = 4_096;

    private final DiskWriter writer;
    private final DiskGraph graph;
    private final DiskLayout layout;
    private final PageLoads pages;
    /** Nodes deleted since this began. */
    private final NodeSet later = new NodeSet();

    private final int end;
    /** Deleted nodes per node of the pass, for progress. */
    private final double perNode;

    /** Neighbors of deleted nodes, by node, in chunks: a map of all would be copied when it grows. */
    private final int[] @Nullable [] @Nullable [] theirs;

    /** Rows that an edge leads to, and nodes that are not live rows. */
    private final NodeSet ledTo = new NodeSet();

    private int node;
    private int orphan;
    private @Nullable RingWalk walk;
    private int freed;
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
        this.theirs = new int[Math.ceilDiv(end, CHUNK)][][];
        this.perNode = (double) graph.dead() / Math.max(1, end);
    }

    /** Others take their place while this runs. */
    private ProductCodes codes() {
        return graph.codes();
    }

    /** Whether a node was deleted when this began, and is not free yet. */
    boolean takesOut(int one) {
        return codes().state(one) == ProductCodes.DEAD && !later.get(one);
    }

    /** Called when a node is deleted. */
    void deleted(int one) {
        later.set(one);
    }

    @Override
    Progress run(SearchContext context) {
        for (int i = 0; i < NODES_PER_PIECE; i++) {
            Progress progress = null;
            if (node < end) {
                boolean chooses = choice != null;
                progress = runNode(context);
                if (progress == null) {
                    node++;
                    choice = null;
                    writer.takesOut(perNode);
                    // The end of a choice is a piece of its own.
                    progress = chooses ? Progress.RAN : null;
                }
            } else if (orphan < end) {
                progress = ledTo.get(orphan) ? null : hangOn(context, orphan);
                if (progress == null) {
                    orphan = ledTo.nextClear(orphan + 1);
                }
            } else if (isIncomplete) {
                writer.notRepaired();
                progress = Progress.DONE;
            } else {
                progress = free();
            }
            if (progress != null) {
                return progress;
            }
        }
        return Progress.RAN;
    }

    /** Frees some nodes. */
    private Progress free() {
        if (takesOut(graph.entry())) {
            int[] row = writer.anyRow();
            if (row != null && row.length == 0) {
                writer.repaired();
                return Progress.DONE;
            }
            if (row != null) {
                graph.setEntry(row[0]);
                writer.linked(row[0]);
            }
            return Progress.RAN;
        }
        int last = Math.min(end, freed + PASSED_PER_PIECE);
        for (int count = 0; freed < last && count < FREED_PER_PIECE; freed++) {
            if (takesOut(freed)) {
                writer.free(freed);
                count++;
            }
        }
        if (freed < end) {
            return Progress.RAN;
        }
        writer.repaired();
        return Progress.DONE;
    }

    /** One piece of work on the node; null if the node is done. */
    private @Nullable Progress runNode(SearchContext context) {
        boolean isLive = codes().state(node) == ProductCodes.LIVE;
        if (!isLive) {
            ledTo.set(node);
        }
        if (codes().state(node) == ProductCodes.FREE || takesOut(node)) {
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
        Choice begun = choice;
        if (begun != null && begun.owner == node && page.equals(begun.page)) {
            return begun.run(context, isLive);
        }
        int[] before = page.neighbors(node);
        if (Arrays.stream(before).anyMatch(this::takesOut)) {
            choice = new Choice(page, before);
            return Progress.RAN;
        }
        choice = null;
        if (isLive) {
            ledTo(before);
        }
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
            RingWalk along = walk;
            if (along == null || along.row != row || !along.walked.equals(codes())) {
                along = new RingWalk(row);
                walk = along;
            }
            if (!along.isOver()) {
                return Progress.RAN;
            }
            if (along.isFound) {
                ledTo.set(row);
                return null;
            }
        }
        Progress progress = hangOnNeighbor(context, row, number);
        if (progress == null) {
            ledTo.set(row);
            writer.linked(row);
        }
        return progress;
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
        // Not a row to which no edge leads either.
        int[] its = Arrays.stream(page.neighbors(row)).filter(this::isLedTo).toArray();
        Progress progress = hangOnOneOf(context, row, page, its);
        if (progress != Progress.DONE) {
            return progress;
        }
        int[] any = writer.anyRow();
        progress = any == null ? Progress.RAN : hangOnOneOf(context, row, page, any);
        return progress == Progress.DONE ? null : progress;
    }

    /** Done if none of the nodes can be used. */
    private @Nullable Progress hangOnOneOf(SearchContext context, int row, NodePage page, int[] its) {
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
        return Progress.DONE;
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
                writer.publish(with);
            }
        }
        edges[edges.length - 1] = row;
        // The latest version: both may be on the same page.
        NodePage with = Objects.requireNonNull(pages.page(layout.pageOf(from))).copy();
        with.setNeighbors(from, edges, edges.length);
        writer.publish(with);
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

    /** The neighbors of a deleted node; null if its page must be read first. */
    private int @Nullable [] neighborsOf(int dead) {
        int @Nullable [] @Nullable [] chunk = theirs[dead / CHUNK];
        int @Nullable [] known = chunk == null ? null : chunk[dead % CHUNK];
        if (known != null) {
            return known;
        }
        int number = layout.pageOf(dead);
        NodePage page = pages.page(number);
        if (page == null && !pages.isDamaged(number)) {
            return null;
        }
        int[] its = page != null && page.isSound(dead, codes().nodes()) ? page.neighbors(dead) : new int[0];
        if (chunk == null) {
            chunk = new int[CHUNK][];
            theirs[dead / CHUNK] = chunk;
        }
        chunk[dead % CHUNK] = its;
        return its;
    }

    /**
     * A node's choice of neighbors, by decoded codes, among the live rows that are its neighbors, those in the place of deleted neighbors, and
     * those that are reached through deleted ones.
     */
    private final class Choice {
        /** If it is deleted meanwhile, the next node does not take over the choice, even on the same page. */
        private final int owner = node;

        private final NodePage page;
        private final int[] before;
        private final Set<Integer> candidates = new LinkedHashSet<>();
        /** Deleted nodes, and how many were considered, and those that were followed. */
        private final List<Integer> frontier = new ArrayList<>();

        private int considered;
        private final Set<Integer> followed = new HashSet<>();
        private final float[] from = new float[layout.dimension()];
        private final byte[] code = new byte[layout.codeBytes()];
        /** The candidates, once all are there. */
        private int @Nullable [] nodes;

        private float[][] vectors = {};
        private float[] distances = {};
        private int decoded;
        private @Nullable PruneSteps prune;

        Choice(NodePage page, int[] before) {
            this.page = page;
            this.before = before;
            codes().vector(page, owner, from);
            add(before);
        }

        /** A piece; null when the node has its neighbors. */
        @Nullable
        Progress run(SearchContext context, boolean isLive) {
            int[] all = nodes;
            if (all == null) {
                return gather(context);
            }
            PruneSteps among = prune;
            if (among == null) {
                decode(all);
                return Progress.RAN;
            }
            long began = System.nanoTime();
            boolean more = among.run(InsertJob.DISTANCES_PER_PIECE);
            writer.pruned(System.nanoTime() - began);
            if (more) {
                return Progress.RAN;
            }
            NodePage with = page.copy();
            int[] chosen = among.filled();
            if (isLive) {
                ledTo(chosen);
            }
            with.setNeighbors(owner, chosen, chosen.length);
            writer.publish(with);
            return null;
        }

        /** Considers some deleted nodes, or reads the pages that must be read first. */
        private Progress gather(SearchContext context) {
            int end = Math.min(considered + CONSIDERED_PER_PIECE, frontier.size());
            for (; considered < end; considered++) {
                int dead = frontier.get(considered);
                boolean isOwn = considered < before.length;
                if (followed.contains(dead)
                        || (!isOwn && !candidates.isEmpty())
                        || followed.size() == MAX_DELETED_FOLLOWED) {
                    continue;
                }
                int[] its = neighborsOf(dead);
                if (its == null) {
                    return load(context, missing(dead));
                }
                followed.add(dead);
                add(its);
            }
            if (considered < frontier.size()) {
                return Progress.RAN;
            }
            if (candidates.isEmpty()) {
                int[] any = writer.anyRow();
                if (any == null) {
                    return Progress.RAN;
                }
                Arrays.stream(any).filter(one -> one != owner).forEach(candidates::add);
            }
            nodes = candidates.stream().mapToInt(Integer::intValue).toArray();
            vectors = new float[nodes.length][];
            distances = new float[nodes.length];
            return Progress.RAN;
        }

        /** The page of a deleted node, and all others known to be missing, to read them at once. */
        private Set<Integer> missing(int dead) {
            Set<Integer> missing = new LinkedHashSet<>();
            missing.add(layout.pageOf(dead));
            for (int neighbor : before) {
                if (takesOut(neighbor) && neighborsOf(neighbor) == null) {
                    missing.add(layout.pageOf(neighbor));
                }
            }
            return missing;
        }

        private void add(int[] these) {
            for (int one : these) {
                byte state = codes().state(one);
                if (state == ProductCodes.DEAD && !later.get(one)) {
                    frontier.add(one);
                    addTwin(one);
                } else if (one != owner && state == ProductCodes.LIVE && candidates.size() < MAX_CANDIDATES) {
                    candidates.add(one);
                }
            }
        }

        /** Adds a live row that equals a deleted one, in whose place it comes. */
        private void addTwin(int dead) {
            int left = MAX_DELETED_FOLLOWED;
            for (int twin = codes().twin(dead); twin != dead && left > 0; twin = codes().twin(twin)) {
                if (twin != owner && codes().state(twin) == ProductCodes.LIVE) {
                    candidates.add(twin);
                    return;
                }
                left--;
            }
        }

        private void decode(int[] all) {
            int end = Math.min(decoded + CODES_PER_PIECE, all.length);
            for (; decoded < end; decoded++) {
                vectors[decoded] = new float[layout.dimension()];
                codes().decode(all[decoded], vectors[decoded], code);
                distances[decoded] = Vectors.squaredDistance(from, vectors[decoded]);
            }
            if (decoded == all.length) {
                prune = PruneSteps.among(all, vectors, distances, all.length, layout.degree(), InsertJob.ALPHA);
            }
        }
    }

    /** A walk along the ring of a row without an edge, some nodes per piece, to an equal row with edges; then all others that hang in the ring count as led to as well. */
    private final class RingWalk {
        private final int row;
        /** Others may have other rings. */
        private final ProductCodes walked = codes();

        private int begin;
        private int twin;
        private boolean isFound;
        private boolean isOver;

        RingWalk(int row) {
            this.row = row;
            this.begin = row;
            this.twin = row;
        }

        /** Whether it is over after another piece. */
        boolean isOver() {
            for (int i = 0; i < TWINS_PER_PIECE && !isOver; i++) {
                twin = walked.twin(twin);
                if (isFound) {
                    isOver = twin == begin;
                    if (walked.hangsOn(twin)) {
                        ledTo.set(twin);
                    }
                } else if (isLedTo(twin) && !walked.hangsOn(twin)) {
                    isFound = true;
                    begin = twin;
                } else {
                    isOver = twin == begin;
                }
            }
            return isOver;
        }
    }
}
