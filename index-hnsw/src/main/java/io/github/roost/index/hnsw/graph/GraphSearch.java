package io.github.roost.index.hnsw.graph;

import io.github.roost.core.TableFileException;
import io.github.roost.index.hnsw.walk.DamagedImageException;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.GraphWalk;
import io.github.roost.index.hnsw.walk.GraphWalks;
import io.github.roost.index.hnsw.walk.NodeSet;
import io.github.roost.index.hnsw.walk.WalkPlan;
import io.github.roost.index.hnsw.walk.WalkScratch;
import org.jspecify.annotations.Nullable;

/**
 * One search of a {@link CodedGraph}, made in pieces, so that between two its caller can see whether it is still wanted. What
 * it finds does not depend on how it is cut. Belongs to one thread.
 */
public final class GraphSearch implements AutoCloseable {
    private static final GraphWalk WALK = GraphWalks.preferred();

    private final CodedGraph graph;
    private final GraphImage image;
    private final int width;
    private final NodeSet allowed;
    private final int piece;
    private @Nullable WalkScratch scratch;
    private boolean begun;
    private boolean through;

    GraphSearch(CodedGraph graph, GraphImage image, float[] query, int width, long @Nullable [] allowed, int labels) {
        this.graph = graph;
        this.image = image;
        this.width = width;
        this.piece = WALK.budget(image.shape().dimension());
        WalkScratch taken = WalkScratch.take();
        boolean ready = false;
        try {
            taken.begin(image, width);
            for (int i = 0; i < image.shape().dimension(); i++) {
                taken.setQuery(i, query[i]);
            }
            this.allowed = allowed == null ? NodeSet.ALL : NodeSet.ofLabels(allowed, labels, taken);
            ready = true;
        } finally {
            if (!ready) {
                taken.giveBack();
            }
        }
        this.scratch = taken;
    }

    /**
     * Goes on for some 25 microseconds, or less.
     *
     * @param distances how many to compute before returning, from 1; up to a quarter more, and 3
     * @return whether it is through: what it has found can be read
     * @throws TableFileException if it comes to what can only be a changed graph; the search is over then
     */
    public boolean goOn(long distances) throws TableFileException {
        if (through) {
            return true;
        }
        long tiles = Math.clamp((distances + GraphWalk.TILE - 1) / GraphWalk.TILE, 1, piece / GraphWalk.TILE);
        begun = true;
        try {
            through = WALK.walkOn(image, scratch(), width, width, allowed, (int) tiles * GraphWalk.TILE);
        } catch (DamagedImageException damaged) {
            throw new TableFileException(graph.name(), 0, String.valueOf(damaged.getMessage()));
        }
        return through;
    }

    /**
     * Goes no further: what has been found so far is all.
     *
     * @throws TableFileException as {@link #goOn}
     */
    public void end() throws TableFileException {
        if (!begun) {
            through = true;
        }
        if (!through) {
            WALK.endWalk(scratch());
            while (!goOn(piece)) {
                // It is making a list of what it has found.
            }
        }
    }

    /**
     * How many distances have been computed.
     *
     * @return 0 or more
     */
    public long visited() {
        return scratch().computed();
    }

    /**
     * How many nodes were found, once it is through.
     *
     * @return at most the width
     */
    public int size() {
        return scratch().size();
    }

    /**
     * A node that was found.
     *
     * @param i its rank by code, the nearest 0
     * @return its ordinal
     * @throws TableFileException if the graph has another than it was written with
     */
    public int ordinal(int i) throws TableFileException {
        return graph.ordinal(scratch().node(i));
    }

    /**
     * Whether the search has gone far from the query, as it does where a filter allows only what lies elsewhere: a wider one
     * finds more.
     *
     * @param nodesAllowed how many nodes the filter allows
     * @return whether to search again
     */
    public boolean wentFar(int nodesAllowed) {
        return WalkPlan.wentFar(visited(), image.shape().nodes(), nodesAllowed, width, image.degree(0));
    }

    private WalkScratch scratch() {
        WalkScratch taken = scratch;
        if (taken == null) {
            throw new IllegalStateException("the search is closed");
        }
        return taken;
    }

    /** Gives its memory back to the next search. */
    @Override
    public void close() {
        WalkScratch taken = scratch;
        if (taken != null) {
            scratch = null;
            if (!through) {
                // A mark that stays would hide its node from the next search.
                taken.abandon();
            }
            taken.giveBack();
        }
    }
}
