package io.github.roost.index.disk.format;

import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;

/**
 * Rings of nodes whose rows are equal: a search that meets one of a ring knows all of it, so that edges need to lead to one only, and the edges
 * of equal nodes lead elsewhere. Takes memory only near nodes that have twins. One thread at a time writes, any number read; a
 * reader may meet a ring that is changed meanwhile, and come from one ring to another.
 */
final class Twins {
    /** Of each node the next and the one before, each plus one; 0 for none. */
    private final IntChunks links = new IntChunks();

    /** The next node of the ring; the node itself if it has no twin. */
    int next(int node) {
        return link(node, 0);
    }

    /**
     * Visits the nodes after one in its ring, as long as the visitor wants more. A ring that is changed meanwhile may not lead back to the node; then
     * the walk ends when it comes to some node again (Brent, BIT 1980).
     */
    static void walk(int from, IntUnaryOperator next, IntPredicate visitor) {
        int marked = from;
        int steps = 0;
        int node = next.applyAsInt(from);
        while (node != from && node != marked && visitor.test(node)) {
            steps++;
            // After 1, 2, 4, ... steps.
            marked = Integer.bitCount(steps) == 1 ? node : marked;
            node = next.applyAsInt(node);
        }
    }

    private int link(int node, int which) {
        int link = links.get(2 * node + which);
        return link == 0 ? node : link - 1;
    }

    private void setLink(int node, int which, int to) {
        links.set(2 * node + which, to == node ? 0 : to + 1);
    }

    /** Puts a node that has no twin behind another one. */
    void join(int node, int other) {
        int after = next(other);
        setLink(node, 0, after);
        setLink(node, 1, other);
        setLink(after, 1, node);
        setLink(other, 0, node);
    }

    /** Takes a node out of its ring. */
    void leave(int node) {
        int after = next(node);
        if (after != node) {
            int before = link(node, 1);
            setLink(before, 0, after);
            setLink(after, 1, before);
            setLink(node, 0, node);
            setLink(node, 1, node);
        }
    }

    /** Joins all nodes in use that have equal codes. */
    void find(ProductCodes codes) {
        byte[] code = new byte[codes.layout().codeBytes()];
        byte[] other = code.clone();
        EqualItems.find(
                codes.nodes(),
                node -> codes.state(node) != ProductCodes.FREE,
                node -> {
                    codes.read(node, code);
                    return Arrays.hashCode(code);
                },
                (one, two) -> {
                    codes.read(one, code);
                    codes.read(two, other);
                    return Arrays.equals(code, other);
                },
                this::join);
    }
}
