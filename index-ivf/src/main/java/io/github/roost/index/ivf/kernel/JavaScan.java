package io.github.roost.index.ivf.kernel;

import io.github.jbellis.jvector.vector.VectorUtil;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;
import io.github.roost.core.Metric;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** The scan where no native library can be loaded: distances by jvector, heaps in Java. */
final class JavaScan implements ScanKernel {
    private static final VectorTypeSupport TYPES =
            VectorizationProvider.getInstance().getVectorTypeSupport();

    @Override
    public void scan(
            Metric metric,
            float[] queries,
            int dimension,
            MemorySegment rows,
            MemorySegment ids,
            long count,
            TopK top) {
        ScanKernel.check(queries, dimension, rows, ids, count, top);
        VectorFloat<?>[] group = new VectorFloat<?>[top.queries];
        for (int query = 0; query < group.length; query++) {
            group[query] =
                    TYPES.createFloatVector(Arrays.copyOfRange(queries, query * dimension, (query + 1) * dimension));
        }
        float[] values = new float[dimension];
        VectorFloat<?> row = TYPES.createFloatVector(values);
        for (long i = 0; i < count; i++) {
            MemorySegment.copy(rows, ValueLayout.JAVA_FLOAT, i * dimension * Float.BYTES, values, 0, dimension);
            for (int d = 0; d < dimension; d++) {
                row.set(d, values[d]);
            }
            long id = ids.getAtIndex(ValueLayout.JAVA_LONG, i);
            for (int query = 0; query < group.length; query++) {
                top.offer(query, distance(metric, group[query], row), id);
            }
        }
    }

    private static float distance(Metric metric, VectorFloat<?> query, VectorFloat<?> row) {
        return switch (metric) {
            case SQUARED_L2 -> VectorUtil.squareL2Distance(query, row);
            case INNER_PRODUCT -> -VectorUtil.dotProduct(query, row);
            case COSINE -> 1 - VectorUtil.dotProduct(query, row);
        };
    }

    @Override
    public String name() {
        return "java";
    }
}
