package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.Vectors;
import io.github.roost.core.vector.ElementType;

/**
 * How graphs of a table are built.
 *
 * @param metric how distances are measured
 * @param elementType what walks read of a component
 * @param m neighbours a node keeps in an upper layer, twice as many in layer 0; from 2 to 256
 * @param efConstruction width of the searches that find a new node's neighbours, from 1 to 10,000
 * @param buildMethod what finds them
 */
record GraphOptions(Metric metric, ElementType elementType, int m, int efConstruction, BuildMethod buildMethod) {
    static final int MOST_M = 256;
    static final int MOST_EF_CONSTRUCTION = 10_000;

    static final GraphOptions DEFAULT = new GraphOptions(Metric.SQUARED_L2, ElementType.FLOAT32, 16, 200);

    /** By {@link BuildMethod#NATIVE}. */
    GraphOptions(Metric metric, ElementType elementType, int m, int efConstruction) {
        this(metric, elementType, m, efConstruction, BuildMethod.NATIVE);
    }

    GraphOptions {
        if (elementType == ElementType.FLOAT16) {
            throw new IllegalArgumentException("the element type of a graph must be FLOAT32 or INT8, got FLOAT16");
        }
        Vectors.requireRange("m", m, 2, MOST_M);
        Vectors.requireRange("efConstruction", efConstruction, 1, MOST_EF_CONSTRUCTION);
    }

    GraphOptions withMetric(Metric value) {
        return new GraphOptions(value, elementType, m, efConstruction, buildMethod);
    }

    GraphOptions withElementType(ElementType value) {
        return new GraphOptions(metric, value, m, efConstruction, buildMethod);
    }

    GraphOptions withM(int value) {
        return new GraphOptions(metric, elementType, value, efConstruction, buildMethod);
    }

    GraphOptions withEfConstruction(int value) {
        return new GraphOptions(metric, elementType, m, value, buildMethod);
    }

    GraphOptions withBuildMethod(BuildMethod value) {
        return new GraphOptions(metric, elementType, m, efConstruction, value);
    }
}
