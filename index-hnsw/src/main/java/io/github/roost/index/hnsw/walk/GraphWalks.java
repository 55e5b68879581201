package io.github.roost.index.hnsw.walk;

import io.github.roost.vector.kernel.Kernels;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** The graph search implementations that this machine can run. */
public final class GraphWalks {
    /** System property with the name of the implementation to use: {@code avx512 avx2 neon portable java}. */
    public static final String PROPERTY = "roost.hnsw.walk";

    private static final Kernels<GraphWalk> KERNELS = new Kernels<>(PROPERTY, find(), GraphWalk::name);

    private GraphWalks() {}

    /** All implementations, fastest first; the last is plain Java, which is always available. */
    public static List<GraphWalk> available() {
        return KERNELS.available();
    }

    /**
     * The fastest implementation, or the one that {@link #PROPERTY} names.
     *
     * @throws IllegalArgumentException if the property names none of {@link #available()}
     */
    public static GraphWalk preferred() {
        return KERNELS.preferred();
    }

    /**
     * The nodes of layer 0 that a graph search of this width computes distances to, in that order. Runs in Java; every
     * implementation visits the same nodes.
     *
     * @param scratch begun for this image, with a query
     */
    public static int[] visits(GraphImage image, WalkScratch scratch, int width) {
        return new JavaWalk().visits(image, scratch, width);
    }

    private static List<GraphWalk> find() {
        List<GraphWalk> walks = new ArrayList<>();
        // An image is little-endian, and C reads it in native byte order.
        if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            walks.addAll(natively());
        }
        walks.add(new JavaWalk());
        return List.copyOf(walks);
    }

    private static List<GraphWalk> natively() {
        return Kernels.orNone("The native graph search cannot be loaded, graphs are searched in Java", NativeWalk::all);
    }
}
