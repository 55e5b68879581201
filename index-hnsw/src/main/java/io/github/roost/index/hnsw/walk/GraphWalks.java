package io.github.roost.index.hnsw.walk;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The walks that this machine can run. */
public final class GraphWalks {
    /** System property that names the walk to use: {@code avx512 avx2 neon portable java}. */
    public static final String PROPERTY = "roost.hnsw.walk";

    private static final Logger LOG = LoggerFactory.getLogger(GraphWalks.class);
    private static final List<GraphWalk> AVAILABLE = find();

    private GraphWalks() {}

    /** All walks, the fastest first; the last is plain Java and always there. */
    public static List<GraphWalk> available() {
        return AVAILABLE;
    }

    /**
     * The fastest walk, or the one that {@link #PROPERTY} names.
     *
     * @throws IllegalArgumentException if the property names none of {@link #available()}
     */
    public static GraphWalk preferred() {
        String name = System.getProperty(PROPERTY);
        return name == null ? AVAILABLE.getFirst() : named(name);
    }

    /**
     * The nodes of layer 0 that every walk of this width computes distances to, in that order. Runs in Java.
     *
     * @param scratch begun for this image, with a query
     */
    public static int[] visits(GraphImage image, WalkScratch scratch, int width) {
        return new JavaWalk().visits(image, scratch, width);
    }

    private static GraphWalk named(String name) {
        for (GraphWalk walk : AVAILABLE) {
            if (walk.name().equals(name)) {
                return walk;
            }
        }
        throw new IllegalArgumentException(PROPERTY + " must be one of "
                + AVAILABLE.stream().map(GraphWalk::name).toList() + ", got " + name);
    }

    private static List<GraphWalk> find() {
        List<GraphWalk> walks = new ArrayList<>();
        // An image is little-endian; C reads it as it lies.
        if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            walks.addAll(natively());
        }
        walks.add(new JavaWalk());
        return List.copyOf(walks);
    }

    @SuppressWarnings("IllegalCatch") // whatever keeps a library from loading, the walk in Java serves
    private static List<GraphWalk> natively() {
        try {
            return NativeWalk.all();
        } catch (Throwable failure) {
            Throwable cause = failure instanceof ExceptionInInitializerError && failure.getCause() != null
                    ? failure.getCause()
                    : failure;
            LOG.warn("The native HNSW walk cannot be loaded, graphs are walked in Java: {}", cause.toString());
            return List.of();
        }
    }
}
