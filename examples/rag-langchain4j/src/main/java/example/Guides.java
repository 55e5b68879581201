package example;

import static dev.langchain4j.store.embedding.filter.MetadataFilterBuilder.metadataKey;

import dev.langchain4j.data.document.Metadata;
import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.onnx.allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel;
import dev.langchain4j.store.embedding.EmbeddingMatch;
import dev.langchain4j.store.embedding.EmbeddingSearchRequest;
import dev.langchain4j.store.embedding.filter.Filter;
import io.github.roost.langchain4j.RoostEmbeddingStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Finds the passages of Roost's guides that answer a question: what a chat model would be given. */
public final class Guides {
    private static final EmbeddingModel MODEL = new AllMiniLmL6V2QuantizedEmbeddingModel();

    public static void main(String[] arguments) throws IOException {
        Path folder = Files.createTempDirectory("guides");
        try (var store = new RoostEmbeddingStore(folder)) {
            List<TextSegment> passages = passages(Path.of(arguments[0]));
            store.addAll(MODEL.embedAll(passages).content(), passages);
            System.out.println(passages.size() + " passages are kept in " + folder);
        }
        // As after a restart: the passages are there.
        try (var store = new RoostEmbeddingStore(folder)) {
            ask(store, "How do I keep passages after the process ends?", null);
            ask(store, "What happens when a queue is full?", metadataKey("guide").isEqualTo("embedding.md"));
        }
    }

    private static void ask(RoostEmbeddingStore store, String question, Filter filter) {
        Embedding embedding = MODEL.embed(question).content();
        var request = EmbeddingSearchRequest.builder()
                .queryEmbedding(embedding)
                .maxResults(2)
                .filter(filter)
                .build();
        System.out.println(question);
        for (EmbeddingMatch<TextSegment> match : store.search(request).matches()) {
            String text = match.embedded().text();
            System.out.printf(
                    "  %.2f %s: %.70s%n", match.score(), match.embedded().metadata().getString("guide"), text);
        }
    }

    private static List<TextSegment> passages(Path guides) throws IOException {
        List<TextSegment> passages = new ArrayList<>();
        try (Stream<Path> files = Files.list(guides)) {
            for (Path file : files.sorted().toList()) {
                var guide = Metadata.metadata("guide", file.getFileName().toString());
                for (String passage : Files.readString(file).split("\n\n")) {
                    if (Character.isLetter(passage.charAt(0))) {
                        passages.add(TextSegment.from(passage.replace('\n', ' '), guide));
                    }
                }
            }
        }
        return passages;
    }
}
