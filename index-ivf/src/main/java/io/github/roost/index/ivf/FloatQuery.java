package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.Reservoir;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.SearchResult;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A query of lists of floats or float16: its scores are distances. */
final class FloatQuery extends IvfQuery<Reservoir> {
    private final ScanKernel kernel;

    FloatQuery(ScanKernel kernel, IvfRequest request, BooleanSupplier mayRepeat) {
        super(request, request.radius(), mayRepeat);
        this.kernel = kernel;
    }

    @Override
    Reservoir collector() {
        return new Reservoir(request().room());
    }

    @Override
    float boundOf(Reservoir reservoir) {
        return reservoir.bound();
    }

    @Override
    boolean mayLack(List<Reservoir> reservoirs, boolean mayRepeat) {
        return mayRepeat
                && reservoirs.stream().mapToInt(Reservoir::size).sum()
                        >= request().room();
    }

    /**
     * A collector that counted a row twice has too tight a bound and rejected rows that belong in the answer. Farther rows from
     * collectors with other bounds then take their place.
     */
    @Override
    boolean isShort(SearchResult found) {
        return super.isShort(found) || found.distances()[found.size() - 1] > bound();
    }

    @Override
    SearchResult merged(List<Reservoir> reservoirs, boolean mayRepeat) {
        int rows = reservoirs.stream().mapToInt(Reservoir::size).sum();
        long[] ids = new long[rows];
        float[] distances = new float[rows];
        int at = 0;
        for (Reservoir reservoir : reservoirs) {
            reservoir.copyTo(ids, distances, at);
            at += reservoir.size();
        }
        int k = request().k();
        return mayRepeat
                ? NearestFirst.distinct(kernel, ids, distances, rows, k)
                : NearestFirst.of(kernel, ids, distances, rows, k);
    }
}
