package io.github.roost.documents;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.documents.DocumentFilter.Compare;
import io.github.roost.documents.DocumentFilter.Comparison;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Searches that run beside changes: each hit is a document as it is or was, meets the filter, and none is missing. */
@Tag("stress")
class SearchBesideChangesTest {
    private static final int CHANGES = Effort.times(600);
    private static final int LASTING = 40;
    private static final int PASSING = 60;
    private static final int K = 10;

    @TempDir
    private Path folder;

    @Test
    void hitsFitTheirDocumentsAndAreAsManyAsAskedFor() throws Exception {
        try (DocumentStore store = DocumentStore.open(folder);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            DocumentCollection collection = store.collection("one");
            collection.put(IntStream.range(0, LASTING)
                    .mapToObj(i -> MadeUpDocuments.document("lasting " + i, i % 2))
                    .toList());
            AtomicBoolean done = new AtomicBoolean();
            List<Future<?>> running = new ArrayList<>();
            for (int writer = 0; writer < 3; writer++) {
                Random random = new Random(writer);
                running.add(threads.submit(() -> change(collection, random)));
            }
            List<Future<?>> searching = new ArrayList<>();
            for (int searcher = 0; searcher < 3; searcher++) {
                Random random = new Random(100 + searcher);
                searching.add(threads.submit(() -> {
                    while (!done.get()) {
                        search(collection, random);
                    }
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
            done.set(true);
            for (Future<?> each : searching) {
                each.get();
            }
        }
    }

    private static void change(DocumentCollection collection, Random random) {
        for (int i = 0; i < CHANGES; i++) {
            List<String> ids = IntStream.range(0, 1 + random.nextInt(8))
                    .mapToObj(_ -> "passing " + random.nextInt(PASSING))
                    .toList();
            if (random.nextInt(3) == 0) {
                collection.remove(ids);
            } else {
                collection.put(ids.stream()
                        .map(id -> MadeUpDocuments.document(id, random.nextInt(4)))
                        .toList());
            }
        }
    }

    private static void search(DocumentCollection collection, Random random) {
        int version = random.nextInt(4);
        DocumentFilter filter = random.nextBoolean() ? null : new Compare("version", Comparison.EQUAL, version);
        float[] query = MadeUpDocuments.vector(random);
        List<DocumentCollection.Match> found = collection.search(SearchRequest.of(query, K), filter);
        if (filter == null || version < 2) {
            // At least half of the lasting documents meet the filter.
            assertThat(found).hasSize(K);
        }
        assertThat(found).extracting(match -> match.document().id()).doesNotHaveDuplicates();
        for (DocumentCollection.Match match : found) {
            Document document = match.document();
            int of = document.metadata().get("version") instanceof Integer number ? number : -1;
            assertThat(document).usingRecursiveComparison().isEqualTo(MadeUpDocuments.document(document.id(), of));
            assertThat((double) match.distance())
                    .isCloseTo(
                            Distances.of(Metric.COSINE, query, document.vector()),
                            org.assertj.core.data.Offset.offset(1e-4));
            if (filter != null) {
                assertThat(of).isEqualTo(version);
            }
        }
    }
}
