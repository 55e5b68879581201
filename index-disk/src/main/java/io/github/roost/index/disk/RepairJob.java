package io.github.roost.index.disk;

import io.github.roost.core.io.BlockReads;
import io.github.roost.core.task.Pending;
import io.github.roost.core.task.SearchContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes deleted nodes out of the graph: each node that has some among its neighbours gets theirs in their place, and chooses among
 * all by their codes (Singh et al., "FreshDiskANN", 2021, algorithm 4). After one pass over all pages no edge leads to those that were
 * deleted when it began, since inserts choose only rows; then they are free for new rows. A node whose neighbours are all deleted
 * goes on to the neighbours of those, some steps far.
 */
final class RepairJob extends WriterJob {
    private static final int MOST_CANDIDATES = 400;
    private static final int MOST_DELETED_FOLLOWED = 64;
    /** Pages that are read ahead. */
    private static final int AHEAD = 16;
    /** Nodes without deleted neighbours that a piece goes past. */
    private static final int NODES_PER_PIECE = 4;

    private final DiskWriter writer;
    private final DiskGraph graph;
    private final Codes codes;
    private final DiskLayout layout;
    private final PageLoads pages;
    private final BitSet deleted;
    private final int end;
    /** Neighbours of deleted nodes, by these. */
    private final Map<Integer, int[]> theirs = new HashMap<>();

    private int node;
    private @Nullable PruneSteps prune;
    private @Nullable NodePage prunedPage;

    RepairJob(DiskTable table, DiskWriter writer, BlockReads reads) {
        super(reads, writer::wake);
        this.writer = writer;
        this.graph = table.graph();
        this.codes = graph.codes();
        this.layout = graph.layout();
        this.pages = new PageLoads(table, reads);
        this.end = codes.nodes();
        this.deleted = new BitSet(end);
        for (int i = 0; i < end; i++) {
            deleted.set(i, codes.state(i) == Codes.DEAD);
        }
    }

    @Override
    Progress run(SearchContext context) {
        for (int i = 0; i < NODES_PER_PIECE; i++) {
            if (node == end) {
                writer.repaired(deleted);
                return Progress.DONE;
            }
            Progress progress = runNode(context);
            if (progress != null) {
                return progress;
            }
            node++;
        }
        return Progress.RAN;
    }

    /** A piece of the work on the node; null if it is done with. */
    private @Nullable Progress runNode(SearchContext context) {
        if (codes.state(node) != Codes.LIVE) {
            return null;
        }
        int number = layout.pageOf(node);
        NodePage page = pages.page(number);
        if (page == null) {
            return pages.isDamaged(number) ? null : load(context, ahead(number));
        }
        if (!page.isSound(node, codes.nodes())) {
            // Not yet linked: an insert that is under way.
            return null;
        }
        int[] before = page.neighbors(node);
        if (Arrays.stream(before).noneMatch(deleted::get)) {
            return null;
        }
        if (prune == null || !page.equals(prunedPage)) {
            Set<Integer> candidates = new LinkedHashSet<>();
            Set<Integer> missing = candidates(before, candidates);
            if (!missing.isEmpty()) {
                return load(context, missing);
            }
            prunedPage = page;
            prune = among(page, candidates);
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
        with.setNeighbors(node, chosen, chosen.length);
        graph.publish(with);
        prune = null;
        prunedPage = null;
        return null;
    }

    private List<Integer> ahead(int number) {
        pages.clear();
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

    /** Adds the rows among the neighbours and those of deleted ones; gives the pages that must be read before. */
    private Set<Integer> candidates(int[] before, Set<Integer> candidates) {
        Set<Integer> missing = new LinkedHashSet<>();
        Set<Integer> followed = new LinkedHashSet<>();
        List<Integer> frontier = new ArrayList<>();
        add(before, candidates, frontier);
        for (int i = 0; i < frontier.size() && missing.isEmpty(); i++) {
            int dead = frontier.get(i);
            boolean isOwn = i < before.length;
            if (!followed.add(dead) || (!isOwn && !candidates.isEmpty()) || followed.size() > MOST_DELETED_FOLLOWED) {
                continue;
            }
            int[] its = neighborsOf(dead);
            if (its == null) {
                missing.add(layout.pageOf(dead));
            } else {
                add(its, candidates, frontier);
            }
        }
        // All that are known to be missing at once.
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
            } else if (one != node && codes.state(one) == Codes.LIVE && candidates.size() < MOST_CANDIDATES) {
                candidates.add(one);
            }
        }
    }

    /** The neighbours of a deleted node; null where its page must be read first. */
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
        int[] its = page != null && page.isSound(dead, codes.nodes()) ? page.neighbors(dead) : new int[0];
        theirs.put(dead, its);
        return its;
    }

    private PruneSteps among(NodePage page, Set<Integer> candidates) {
        float[] from = new float[layout.dimension()];
        page.vector(node, from);
        int[] nodes = candidates.isEmpty()
                ? Arrays.stream(writer.anyRow()).filter(one -> one != node).toArray()
                : candidates.stream().mapToInt(Integer::intValue).toArray();
        return InsertJob.byCodes(codes, from, nodes, layout.degree());
    }
}
