package io.github.roost.index.disk.update;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.search.BeamSearch;
import io.github.roost.index.disk.search.PageReads;
import io.github.roost.index.disk.search.SearchCounts;
import io.github.roost.io.BlockReads;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Inserts a row: a search for nodes near it, a choice of neighbors among these by their vectors, the node's page, and then an edge
 * back from each neighbor. A full neighbor gives up one of its edges for that, chosen by codes (direct insertion; Guo and Lu,
 * "OdinANN", FAST 2026), and the new node takes that edge over, so that its target is still reachable, through
 * the new node. So every node that was reachable stays so. A row that equals another one is only put into its ring. Nothing is locked between pieces: a neighbor's page is read, changed
 * and published in one piece.
 */
final class InsertJob extends WriterJob {
    private static final int WIDTH = 100;
    private static final int MAX_READS = 8;
    private static final int MAX_CANDIDATES = 400;
    static final float ALPHA = 1.2f;
    private static final int NONE = -1;
    /** Max nodes of a ring that are looked at in a piece. */
    private static final int MAX_TWINS = 256;
    /** Distances between vectors per piece of a prune: some microseconds. */
    static final int DISTANCES_PER_PIECE = 128;

    private record Candidate(int node, float distance, float[] vector) {}

    /** The next step. */
    private enum Phase {
        DISTANCES,
        SEARCH,
        PRUNE,
        LOAD,
        PUBLISH,
        LINK
    }

    private final DiskGraph graph;
    private final SearchCounts counts;
    private final DiskWriter writer;
    private final ProductCodes codes;
    private final DiskLayout layout;
    private final Update update;
    private final float[] vector;
    /** The vector in the scale of distances. */
    private final float[] inScale;

    private final float[] distances;
    private final byte[] code;
    private final PageLoads pages;
    private final List<Candidate> candidates = new ArrayList<>();
    private Phase phase = Phase.DISTANCES;
    private int part;
    /** Max concurrent reads of the search: fewer if a worker has fewer buffers. */
    private int maxReads = MAX_READS;

    private double error;
    private @Nullable BeamSearch search;
    private @Nullable Step<BeamSearch, SearchResult> step;
    private @Nullable PruneSteps prune;
    private int node;
    private int[] neighbors = {};
    /** Nodes whose edges this node has taken over from its neighbors. */
    private final Set<Integer> taken = new HashSet<>();

    /** A node in the graph with an equal row; -1 if none was seen. */
    private int twin = NONE;

    private boolean hangsOn;

    private int linked;
    private int kept;

    InsertJob(
            DiskGraph graph, SearchCounts counts, DiskWriter writer, Update update, float[] vector, BlockReads reads) {
        super(reads, writer::wake);
        this.graph = graph;
        this.counts = counts;
        this.writer = writer;
        this.codes = graph.codes();
        this.layout = graph.layout();
        this.update = update;
        this.vector = vector;
        this.inScale = codes.inScale(vector);
        this.distances = new float[layout.codeBytes() * DiskLayout.CENTROIDS];
        this.code = new byte[layout.codeBytes()];
        this.pages = new PageLoads(graph, counts, reads);
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

    /** Distances of one part of the vector to its 256 centroids. */
    private Progress distances() {
        codes.distances(inScale, distances, part, part + 1);
        error += codes.encode(distances, code, part, part + 1);
        part++;
        if (part == code.length) {
            phase = Phase.SEARCH;
        }
        return Progress.RAN;
    }

    private void visited(int visited, float[] itsVector) {
        float[] copy = itsVector.clone();
        candidates.add(new Candidate(visited, Vectors.squaredDistance(inScale, copy), copy));
    }

    private Progress search(SearchContext context) throws Exception {
        try {
            return searchStep(context);
        } catch (BlockReads.BuffersExhaustedException never) {
            // More reads at once than a worker may ever have: start again with fewer.
            maxReads /= 2;
            search = null;
            step = null;
            candidates.clear();
            return Progress.RAN;
        }
    }

    private Progress searchStep(SearchContext context) throws Exception {
        BeamSearch same = search;
        if (same == null) {
            SearchRequest nearest = SearchRequest.of(vector, 1).effort(WIDTH);
            same = new BeamSearch(
                    graph, counts, nearest, new PageReads(maxReads, false), reads(), this::visited, distances);
            search = same;
        }
        step = switch (step) {
            case null -> same.begin(same, context);
            case Step.Park<BeamSearch, SearchResult> park -> park.next().step(same, context);
            case Step.Yield<BeamSearch, SearchResult> pause -> pause.next().step(same, context);
            default -> throw new IllegalStateException("a search does nothing but yield, park and end");
        };
        if (step instanceof Step.Park<BeamSearch, SearchResult> park) {
            return waitFor(park.pending());
        }
        if (step instanceof Step.Done<BeamSearch, SearchResult>) {
            search = null;
            step = null;
            beginPrune();
        }
        return Progress.RAN;
    }

    private void beginPrune() {
        candidates.removeIf(candidate -> codes.state(candidate.node) != ProductCodes.LIVE);
        for (Candidate candidate : candidates) {
            if (candidate.distance == 0 && (twin == NONE || codes.hangsOn(twin))) {
                twin = candidate.node;
            }
        }
        // A row that equals this one would occlude all others, and a row that hangs on another one is left to that.
        candidates.removeIf(candidate -> candidate.distance == 0 || codes.hangsOn(candidate.node));
        float[] fromAll = new float[candidates.size()];
        int[] all = new int[fromAll.length];
        for (int i = 0; i < all.length; i++) {
            fromAll[i] = candidates.get(i).distance;
            all[i] = candidates.get(i).node;
        }
        float[][] vectors = candidates.stream().map(Candidate::vector).toArray(float[][]::new);
        prune = PruneSteps.among(all, vectors, fromAll, MAX_CANDIDATES, layout.degree(), ALPHA);
        phase = Phase.PRUNE;
    }

    private Progress prune() {
        PruneSteps choice = Objects.requireNonNull(prune);
        long began = System.nanoTime();
        boolean more = choice.run(DISTANCES_PER_PIECE);
        writer.pruned(System.nanoTime() - began);
        if (!more) {
            int[] chosen = choice.result();
            int[] others = chosen.length == 0 ? writer.anyRow() : chosen;
            if (others == null) {
                return Progress.RAN;
            }
            neighbors = others;
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
        if (pages.isTaking()) {
            return Progress.RAN;
        }
        if (pages.isDamaged(layout.pageOf(node))) {
            node = writer.takeNode();
            return Progress.RAN;
        }
        phase = Phase.PUBLISH;
        return Progress.RAN;
    }

    /** Publishes the node before any edge to it. */
    private Progress publish() {
        NodePage page = pages.page(layout.pageOf(node));
        if (page == null) {
            phase = Phase.LOAD;
            return Progress.RAN;
        }
        writer.put(node, update.id(), code, vector);
        NodePage with = page.copy();
        with.put(node, update.id(), vector, neighbors, neighbors.length);
        writer.publish(with);
        if (twin != NONE) {
            codes.joinTwin(node, twin);
            hangsOn = isTwinLinked();
        }
        if (hangsOn) {
            // Found with the other one, so no edge need lead to it: many equal rows would take all edges of their
            // neighbors.
            return finish();
        }
        phase = Phase.LINK;
        return Progress.RAN;
    }

    /** Whether edges lead to a row of the ring, and will when a running repair has ended. */
    private boolean isTwinLinked() {
        int one = twin;
        for (int i = 0; i < MAX_TWINS; i++) {
            if (one != node && !codes.hangsOn(one) && !writer.isTakenOut(one)) {
                return true;
            }
            one = codes.twin(one);
        }
        return false;
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
                linked++;
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
        int own = layout.pageOf(node);
        if (pages.page(own) == null && !pages.isDamaged(own)) {
            Pending pending = pages.load(context, List.of(own));
            return pending == null ? Progress.RAN : waitFor(pending);
        }
        long began = System.nanoTime();
        int[] its = page.neighbors(neighbor);
        int dropped = givenUp(page, neighbor, its);
        writer.pruned(System.nanoTime() - began);
        boolean mustKeep = linked == neighbors.length - 1 && kept == 0;
        if (dropped != node && writer.isTakenOut(dropped)) {
            // A repair may have passed this node already, and then frees the other one. It replaces the neighbor's
            // edge itself.
            dropped = node;
        }
        if (dropped == node && mustKeep) {
            // At least one edge must lead to the node, or it becomes the entry.
            dropped = lastKept(its);
        }
        if (dropped != node && takeOver(dropped, mustKeep)) {
            its[indexOf(its, dropped)] = node;
            change(neighbor, its);
        } else {
            linked++;
        }
        return Progress.RAN;
    }

    /** Which of a full node's neighbors and the new node it gives up: by its vector, the new vector and the neighbors' codes. */
    private int givenUp(NodePage page, int owner, int[] its) {
        float[] ownersVector = new float[layout.dimension()];
        codes.vector(page, owner, ownersVector);
        float[] fromOwner = new float[its.length + 1];
        float[] fromNew = new float[its.length];
        byte[] scratch = new byte[code.length];
        for (int i = 0; i < its.length; i++) {
            fromNew[i] = codes.distance(distances, its[i], scratch);
            fromOwner[i] = codes.distanceOf(ownersVector, scratch);
        }
        fromOwner[its.length] = Vectors.squaredDistance(ownersVector, inScale);
        int index = DeltaPrune.givenUp(fromOwner, fromNew, ALPHA);
        return index == its.length ? node : its[index];
    }

    /** The last of some neighbors that no repair takes out; this node if there is none. */
    private int lastKept(int[] its) {
        return IntStream.range(0, its.length)
                .map(i -> its[its.length - 1 - i])
                .filter(one -> !writer.isTakenOut(one))
                .findFirst()
                .orElse(node);
    }

    private static int indexOf(int[] all, int one) {
        int index = 0;
        while (all[index] != one) {
            index++;
        }
        return index;
    }

    /**
     * Adds an edge from the node to another one: in a free place, or in place of a chosen neighbor, which was reachable
     * before this node existed. Keeps half of the chosen neighbors unless {@code must}.
     *
     * @return whether the neighbor may give up its edge to the other node
     */
    private boolean takeOver(int other, boolean must) {
        NodePage page = pages.page(layout.pageOf(node));
        if (page == null) {
            return must;
        }
        int[] its = page.neighbors(node);
        if (Arrays.stream(its).noneMatch(one -> one == other)) {
            int place = its.length;
            if (place == layout.degree()) {
                int min = must ? 0 : layout.degree() / 2;
                do {
                    place--;
                } while (place >= min && taken.contains(its[place]));
                if (place < min) {
                    return must;
                }
            } else {
                its = Arrays.copyOf(its, place + 1);
            }
            its[place] = other;
            NodePage with = page.copy();
            with.setNeighbors(node, its, its.length);
            writer.publish(with);
        }
        taken.add(other);
        return true;
    }

    private void change(int neighbor, int[] to) {
        // The latest version: the node may be on the same page.
        NodePage with =
                Objects.requireNonNull(pages.page(layout.pageOf(neighbor))).copy();
        with.setNeighbors(neighbor, to, to.length);
        writer.publish(with);
        kept++;
        linked++;
    }

    private Progress finish() {
        writer.inserted(update, node, hangsOn, kept == 0, error);
        return Progress.DONE;
    }
}
