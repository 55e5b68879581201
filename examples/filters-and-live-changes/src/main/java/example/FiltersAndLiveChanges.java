package example;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;

/**
 * Products that change while they are searched, and requests that say more than "the nearest": which products may be found, which recall is wanted,
 * and how long the caller waits. All indexes whose rows can change do this in the same way; here a graph (HNSW) and lists (IVF).
 */
public final class FiltersAndLiveChanges {
    private static final int PRODUCTS = 5_000;
    private static final int DIMENSION = 32;

    private FiltersAndLiveChanges() {}

    public static void main(String[] args) {
        Random random = new Random(7);
        long[] ids = new long[PRODUCTS];
        float[][] vectors = new float[PRODUCTS][];
        Arrays.setAll(ids, i -> i);
        Arrays.setAll(vectors, i -> vector(random));
        float[] query = vector(random);
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                LiveTable graph = LiveTable.builder().name("graph").build(orchestrator, ids, vectors);
                IvfTable lists = IvfTable.builder().name("lists").nlist(64).build(orchestrator, ids, vectors)) {
            for (MutableVectorTable products : List.of(graph, lists)) {
                filter(products, query);
                change(products, query, random);
                comeTooLate(products, query);
                System.out.println(products.stats());
            }
        }
    }

    /** A filter is a set of ids, which is copied, or a predicate, which is asked while the search runs. */
    private static void filter(MutableVectorTable products, float[] query) {
        BitSet inStock = new BitSet();
        for (int id = 0; id < PRODUCTS; id += 3) {
            inStock.set(id);
        }
        SearchRequest request = SearchRequest.of(query, 5)
                .filter(IdFilter.of(inStock))
                .targetRecall(.95)
                .timeout(Duration.ofSeconds(30));
        SearchResult found = products.search(request).join();
        System.out.println("in stock and nearest: " + Arrays.toString(found.ids()));
        require(found.size() == 5, "five products, got " + found);
        require(Arrays.stream(found.ids()).allMatch(id -> inStock.get((int) id)), "products in stock, got " + found);
    }

    /** A search that begins after a change sees it: a new product takes the first place, and a sold one leaves its place. */
    private static void change(MutableVectorTable products, float[] query, Random random) {
        SearchRequest request = SearchRequest.of(query, 5).targetRecall(.95);
        long sold = products.search(request).join().ids()[0];
        long added = PRODUCTS;
        require(products.remove(sold), "product " + sold + " in the table");
        require(products.put(added, query), "no product " + added + " before");
        SearchResult found = products.search(request).join();
        System.out.println("after a product was added and one sold: " + Arrays.toString(found.ids()));
        require(found.ids()[0] == added && found.distances()[0] == 0, "the new product first, got " + found);
        require(Arrays.stream(found.ids()).noneMatch(id -> id == sold), "no product " + sold + ", got " + found);

        // The same id again replaces the vector.
        require(!products.put(added, vector(random)), "product " + added + " in the table");
        found = products.search(request).join();
        require(found.distances()[0] > 0, "no product at the old place, got " + found);
    }

    /** A search whose deadline passes before it begins does not run; its future fails. */
    private static void comeTooLate(MutableVectorTable products, float[] query) {
        SearchRequest request = SearchRequest.of(query, 5).timeout(Duration.ofNanos(1));
        try {
            SearchResult found = products.search(request).join();
            throw new IllegalStateException("expected a deadline that has passed, got " + found);
        } catch (CompletionException e) {
            require(e.getCause() instanceof DeadlineExceededException, "a deadline that has passed, got " + e);
            System.out.println("a search that came too late: " + e.getCause().getMessage());
        }
    }

    private static float[] vector(Random random) {
        float[] vector = new float[DIMENSION];
        for (int i = 0; i < DIMENSION; i++) {
            vector[i] = (float) random.nextGaussian();
        }
        return vector;
    }

    private static void require(boolean holds, String expected) {
        if (!holds) {
            throw new IllegalStateException("expected " + expected);
        }
    }
}
