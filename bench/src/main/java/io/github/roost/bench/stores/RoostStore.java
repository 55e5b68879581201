package io.github.roost.bench.stores;

import io.github.roost.documents.Document;
import io.github.roost.documents.DocumentCollection;
import io.github.roost.documents.DocumentCollection.Match;
import io.github.roost.documents.DocumentFilter;
import io.github.roost.documents.DocumentFilter.Comparison;
import io.github.roost.documents.DocumentStore;
import io.github.roost.vector.SearchRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Roost's own. */
final class RoostStore implements TextStore {
    /** The effort of a request that sets none. */
    private static final int DEFAULT = 0;

    private final DocumentStore store;
    private final DocumentCollection texts;

    RoostStore(Path folder) throws IOException {
        this.store = DocumentStore.open(folder);
        this.texts = store.collection("texts");
    }

    @Override
    public void add(List<StoredText> added) {
        texts.put(added.stream()
                .map(each -> new Document(
                        each.id(),
                        each.text(),
                        Map.of(
                                StoredText.TENANT,
                                each.tenant(),
                                StoredText.SOURCE,
                                each.source(),
                                StoredText.PAGE,
                                each.page()),
                        each.vector()))
                .toList());
    }

    @Override
    public int[] search(float[] vector, int query, Condition condition, int effort) {
        SearchRequest nearest = SearchRequest.of(vector, K);
        List<Match> found =
                texts.search(effort == DEFAULT ? nearest : nearest.effort(effort), filter(condition, query));
        return found.stream()
                .mapToInt(match -> TextNumbers.of(match.document().id()))
                .toArray();
    }

    private static @Nullable DocumentFilter filter(Condition condition, int query) {
        int value = condition.value(query);
        return switch (condition) {
            case ALL -> null;
            case PAGES -> new DocumentFilter.Compare(StoredText.PAGE, Comparison.LESS, value);
            case TENANT -> new DocumentFilter.Compare(StoredText.TENANT, Comparison.EQUAL, StoredText.tenant(value));
            case SOURCE -> new DocumentFilter.Compare(StoredText.SOURCE, Comparison.EQUAL, StoredText.source(value));
        };
    }

    @Override
    public List<Integer> efforts() {
        return List.of(DEFAULT, K, 20, 40, 80, 160, 320, 640);
    }

    @Override
    public int size() {
        return texts.size();
    }

    @Override
    public void close() {
        store.close();
    }
}
