package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;

/**
 * The build options of a table's graphs.
 *
 * @param metric the distance
 * @param elementType the type of the components that graph searches read
 * @param m max neighbors of a node in an upper layer, and half the max in layer 0; from 2 to 256
 * @param efConstruction width of the searches that find a new node's neighbors, from 1 to 10,000
 * @param builtInJava whether jvector builds, in Java, even where the C kernels can be loaded
 */
public record GraphOptions(Metric metric, ElementType elementType, int m, int efConstruction, boolean builtInJava) {
    public static final int MAX_M = 256;
    public static final int MAX_EF_CONSTRUCTION = 10_000;

    public static final GraphOptions DEFAULT = new GraphOptions(Metric.SQUARED_L2, ElementType.FLOAT32, 16, 200);

    /** Options of graphs that are built in C where that can be. */
    public GraphOptions(Metric metric, ElementType elementType, int m, int efConstruction) {
        this(metric, elementType, m, efConstruction, false);
    }

    public GraphOptions {
        if (elementType == ElementType.FLOAT16) {
            throw new IllegalArgumentException("the element type of a graph must be FLOAT32 or INT8, got FLOAT16");
        }
        Vectors.requireRange("m", m, 2, MAX_M);
        Vectors.requireRange("efConstruction", efConstruction, 1, MAX_EF_CONSTRUCTION);
    }

    /** Bytes, approximately, of a graph of this many distinct rows. */
    public long bytesOf(int rows, int dimension) {
        return shapeOf(rows, dimension).bytes();
    }

    /** The shape, approximately, of a graph of this many distinct rows. */
    public GraphImage.Shape shapeOf(int rows, int dimension) {
        int[] levels = {Math.max(1, rows / m)};
        boolean coded = elementType == ElementType.INT8;
        return new GraphImage.Shape(metric, coded, dimension, 2 * m, m, rows, rows, 0, 0, levels);
    }

    public GraphOptions withMetric(Metric value) {
        return new GraphOptions(value, elementType, m, efConstruction, builtInJava);
    }

    public GraphOptions withElementType(ElementType value) {
        return new GraphOptions(metric, value, m, efConstruction, builtInJava);
    }

    public GraphOptions withM(int value) {
        return new GraphOptions(metric, elementType, value, efConstruction, builtInJava);
    }

    public GraphOptions withEfConstruction(int value) {
        return new GraphOptions(metric, elementType, m, value, builtInJava);
    }

    public GraphOptions withBuiltInJava(boolean value) {
        return new GraphOptions(metric, elementType, m, efConstruction, value);
    }
}
