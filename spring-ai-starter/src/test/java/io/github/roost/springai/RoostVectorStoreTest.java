package io.github.roost.springai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.documents.DocumentCollection;
import io.github.roost.documents.DocumentStore;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.ai.document.Document;
import org.springframework.ai.test.vectorstore.BaseVectorStoreTests;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.SimpleVectorStore;
import org.springframework.ai.vectorstore.VectorStore;
import org.springframework.ai.vectorstore.filter.Filter;

/** Spring AI's tests of vector stores, and its filters beside those of its own store in memory. */
class RoostVectorStoreTest extends BaseVectorStoreTests {
    private static final SearchRequest ALL = SearchRequest.builder()
            .query("any")
            .topK(100)
            .similarityThresholdAll()
            .build();

    @TempDir
    private Path folder;

    private final MadeUpModel model = new MadeUpModel();
    private @Nullable DocumentStore documents;
    private @Nullable RoostVectorStore opened;

    private RoostVectorStore store() {
        if (opened == null) {
            try {
                documents = DocumentStore.open(folder);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
            opened = RoostVectorStore.builder(documents, model).build();
        }
        return opened;
    }

    @AfterEach
    void close() {
        if (documents != null) {
            documents.close();
        }
    }

    @Override
    protected void executeTest(Consumer<VectorStore> test) {
        test.accept(store());
    }

    private static final List<Document> COUNTRIES = List.of(
            new Document("1", "one", Map.of("country", "BG", "year", 2020, "rating", 4.5, "open", true)),
            new Document("2", "two", Map.of("country", "NL", "year", 2021L, "two words", "x")),
            new Document("3", "three", Map.of("country", "BG", "year", 2023.0)),
            new Document("4", "four", Map.of("year", 1999, "country", "DE", "open", false)),
            new Document("5", "five", Map.of("country", "FR", "year", 2020)));

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        country == 'BG'
        country != 'BG'
        year == 2020
        year > 2020
        year >= 2020
        year < 2020
        year <= 2020
        country in ['BG', 'DE', 'XX']
        country nin ['BG', 'DE', 'XX']
        year in [2020, 2021]
        open == true
        open != true
        rating != 4.5
        country == 'BG' && year == 2020
        country == 'BG' || year == 2020
        country == 'BG' AND (year == 2020 OR year == 2023)
        NOT(country == 'BG' AND year == 2020)
        NOT country IN ['BG']
        'two words' == 'x'
        rating IS NULL
        rating IS NOT NULL
        """)
    void aFilterMeansWhatItMeansInMemory(String filter) {
        SimpleVectorStore inMemory = SimpleVectorStore.builder(model).build();
        inMemory.add(COUNTRIES);
        store().add(COUNTRIES);
        SearchRequest filtered = SearchRequest.from(ALL)
                .similarityThreshold(0)
                .filterExpression(filter)
                .build();
        SearchRequest all = SearchRequest.from(filtered).build();

        List<String> expected = inMemoryIds(inMemory, filtered);
        assertThat(store().similaritySearch(all))
                .extracting(Document::getId)
                .containsExactlyInAnyOrderElementsOf(expected);
        store().delete(filter);
        assertThat(store().similaritySearch(ALL))
                .extracting(Document::getId)
                .doesNotContainAnyElementsOf(expected)
                .hasSize(COUNTRIES.size() - expected.size());
    }

    /** By one document at a time, since the store in memory drops those of negative similarity. */
    private static List<String> inMemoryIds(SimpleVectorStore inMemory, SearchRequest filtered) {
        return COUNTRIES.stream()
                .filter(each -> inMemory
                        .similaritySearch(SearchRequest.from(filtered)
                                .query(String.valueOf(each.getText()))
                                .topK(1)
                                .similarityThreshold(.99)
                                .build())
                        .stream()
                        .anyMatch(found -> found.getId().equals(each.getId())))
                .map(Document::getId)
                .toList();
    }

    @Test
    void scoresAreSimilaritiesAndAThresholdIsKept() {
        store().add(COUNTRIES);
        Document best = store().similaritySearch(SearchRequest.builder()
                        .query("two")
                        .topK(5)
                        .similarityThreshold(.99)
                        .build())
                .getFirst();
        assertThat(best.getId()).isEqualTo("2");
        assertThat(best.getScore()).isCloseTo(1, Assertions.offset(1e-6));
        assertThat(best.getMetadata()).containsEntry("year", 2021L).containsKey("distance");
        assertThat(best.getText()).isEqualTo("two");
        assertThat(store().similaritySearch(SearchRequest.builder()
                        .query("two")
                        .topK(5)
                        .similarityThreshold(.99)
                        .build()))
                .hasSize(1);
        assertThat(store().similaritySearch(
                                SearchRequest.builder().query("two").topK(0).build()))
                .isEmpty();
    }

    @Test
    @SuppressWarnings("JavaUtilDate") // what Spring AI's programs have
    void datesAreKeptAsTextsInUtc() {
        Date date = new Date(1_600_000_000_000L);
        store().add(List.of(new Document("1", "one", Map.of("when", date, "days", List.of(date, "other")))));
        Filter.Expression same =
                new Filter.Expression(Filter.ExpressionType.EQ, new Filter.Key("when"), new Filter.Value(date));
        assertThat(store().similaritySearch(
                                SearchRequest.from(ALL).filterExpression(same).build())
                        .getFirst()
                        .getMetadata())
                .containsEntry("when", "2020-09-13T12:26:40Z")
                .containsEntry("days", List.of("2020-09-13T12:26:40Z", "other"));
        Filter.Expression one = new Filter.Expression(
                Filter.ExpressionType.IN, new Filter.Key("days"), new Filter.Value(List.of(date)));
        assertThat(store().similaritySearch(
                                SearchRequest.from(ALL).filterExpression(one).build()))
                .hasSize(1);
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void equalToNullIsWhatHasNoSuchKey() {
        store().add(List.of(new Document("1", "one", Map.of("year", 2020)), new Document("2", "two", Map.of())));
        Filter.Expression none =
                new Filter.Expression(Filter.ExpressionType.EQ, new Filter.Key("year"), new Filter.Value(null));
        assertThat(store().similaritySearch(
                                SearchRequest.from(ALL).filterExpression(none).build()))
                .extracting(Document::getId)
                .containsExactly("2");
        Filter.Expression above =
                new Filter.Expression(Filter.ExpressionType.GT, new Filter.Key("year"), new Filter.Value(null));
        assertThatThrownBy(() -> store().similaritySearch(
                                SearchRequest.from(ALL).filterExpression(above).build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("where a value is expected");
    }

    @Test
    void aConditionMayBeADecimal() {
        store().add(COUNTRIES);
        Filter.Expression equal = new Filter.Expression(
                Filter.ExpressionType.EQ, new Filter.Key("year"), new Filter.Value(new BigDecimal("2020.0")));
        assertThat(store().similaritySearch(
                                SearchRequest.from(ALL).filterExpression(equal).build()))
                .extracting(Document::getId)
                .containsExactlyInAnyOrder("1", "5");
    }

    @Test
    void whatCannotBeKeptIsNamed() {
        AbstractThrowableAssert<?, ?> refusal = assertThatThrownBy(() ->
                store().add(List.of(new Document("1", "one", Map.of("when", java.time.Instant.EPOCH)))));
        refusal.isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'when'")
                .hasMessageContaining("java.time.Instant");
        Filter.Expression odd =
                new Filter.Expression(Filter.ExpressionType.IN, new Filter.Key("a"), new Filter.Value("b"));
        assertThatThrownBy(() -> store().similaritySearch(
                                SearchRequest.from(ALL).filterExpression(odd).build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a list of values");
        assertThatThrownBy(() -> store().delete(new Filter.Expression(
                        Filter.ExpressionType.AND, new Filter.Key("a"), new Filter.Value("b"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("an expression or a group");
    }

    @Test
    void theCollectionIsTheNativeClient() {
        store().add(COUNTRIES);
        assertThat(store().<DocumentCollection>getNativeClient().orElseThrow().size())
                .isEqualTo(COUNTRIES.size());
    }

    @Test
    void onlyCosineHasSimilarities() throws IOException {
        try (DocumentStore other =
                DocumentStore.builder().metric(Metric.SQUARED_L2).open(folder.resolve("other"))) {
            assertThatThrownBy(() -> RoostVectorStore.builder(other, model).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("SQUARED_L2");
        }
    }
}
