package io.github.roost.bench;

import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import java.util.Arrays;
import java.util.List;

/** Vectors as jvector takes them. */
public final class JvectorVectors {
    private JvectorVectors() {}

    /** Copies vectors into jvector's form, in order. */
    public static List<VectorFloat<?>> of(float[][] values) {
        return Arrays.stream(values)
                .<VectorFloat<?>>map(VectorizationProvider.getInstance().getVectorTypeSupport()::createFloatVector)
                .toList();
    }
}
