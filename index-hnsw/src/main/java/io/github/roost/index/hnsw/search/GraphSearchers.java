package io.github.roost.index.hnsw.search;

import io.github.roost.vector.kernel.Kernels;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** The graph search implementations that this machine can run. */
public final class GraphSearchers {
    /** System property with the name of the implementation to use: {@code avx512 avx2 neon portable java}. */
    public static final String PROPERTY = "roost.hnsw.search";

    private static final Kernels<GraphSearcher> KERNELS = new Kernels<>(PROPERTY, find(), GraphSearcher::name);

    private GraphSearchers() {}

    /** All implementations, fastest first; the last is plain Java, which is always available. */
    public static List<GraphSearcher> available() {
        return KERNELS.available();
    }

    /**
     * The fastest implementation, or the one that {@link #PROPERTY} names.
     *
     * @throws IllegalArgumentException if the property names none of {@link #available()}
     */
    public static GraphSearcher preferred() {
        return KERNELS.preferred();
    }

    /**
     * The nodes of layer 0 that a graph search of this width computes distances to, in that order. Runs in Java; every
     * implementation visits the same nodes.
     *
     * @param scratch begun for this image, with a query
     */
    public static int[] visits(GraphImage image, SearchScratch scratch, int width) {
        return new JavaSearch().visits(image, scratch, width);
    }

    private static List<GraphSearcher> find() {
        List<GraphSearcher> searchers = new ArrayList<>();
        // An image is little-endian, and C reads it in native byte order.
        if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            searchers.addAll(natively());
        }
        searchers.add(new JavaSearch());
        return List.copyOf(searchers);
    }

    private static List<GraphSearcher> natively() {
        return Kernels.orNone(
                "The native graph search cannot be loaded, graphs are searched in Java", NativeSearch::all);
    }
}
