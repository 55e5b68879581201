package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import io.github.roost.index.ivf.kernel.TopHeap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/** A query of lists of floats: its scores are distances. */
final class FloatQuery extends IvfQuery<TopHeap> {
    FloatQuery(SearchRequest request, int lists, LongSupplier moves, CompletableFuture<Neighbors> answer) {
        super(request, request.radius(), lists, moves, answer);
    }

    @Override
    TopHeap collector() {
        return new TopHeap(request().k());
    }

    @Override
    float boundOf(TopHeap heap) {
        return heap.bound();
    }

    @Override
    Neighbors merged(List<TopHeap> heaps, boolean mayRepeat) {
        int rows = heaps.stream().mapToInt(TopHeap::size).sum();
        long[] ids = new long[rows];
        float[] distances = new float[rows];
        int at = 0;
        for (TopHeap heap : heaps) {
            System.arraycopy(heap.copyOfIds(), 0, ids, at, heap.size());
            System.arraycopy(heap.copyOfDistances(), 0, distances, at, heap.size());
            at += heap.size();
        }
        int k = request().k();
        return mayRepeat ? NearestFirst.distinct(ids, distances, k) : NearestFirst.of(ids, distances, k);
    }
}
