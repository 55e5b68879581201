package example;

import dev.langchain4j.model.embedding.onnx.allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.VectorStore;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Finds the passages of Roost's guides that answer a question: what a chat model would be given. */
@SpringBootApplication
public class SpringGuides {
    public static void main(String[] arguments) throws IOException {
        Path folder = Files.createTempDirectory("guides");
        System.setProperty("spring.ai.vectorstore.roost.folder", folder.toString());
        System.setProperty("spring.main.banner-mode", "off");
        try (var context = SpringApplication.run(SpringGuides.class)) {
            List<Document> passages = passages(Path.of(arguments[0]));
            context.getBean(VectorStore.class).add(passages);
            System.out.println(passages.size() + " passages are kept in " + folder);
        }
        // As after a restart: the passages are there.
        try (var context = SpringApplication.run(SpringGuides.class)) {
            var request = SearchRequest.builder()
                    .query("What happens when a queue is full?")
                    .topK(2)
                    .filterExpression("guide == 'embedding.md'")
                    .build();
            System.out.println(request.getQuery());
            for (Document found : context.getBean(VectorStore.class).similaritySearch(request)) {
                System.out.printf("  %.2f %s: %.70s%n", found.getScore(), found.getMetadata().get("guide"), found.getText());
            }
        }
    }

    /** Any embedding model of Spring AI will do; this one needs no server and no download. */
    @Bean
    EmbeddingModel embeddingModel() {
        var model = new AllMiniLmL6V2QuantizedEmbeddingModel();
        return new EmbeddingModel() {
            @Override
            public EmbeddingResponse call(EmbeddingRequest request) {
                List<String> texts = request.getInstructions();
                return new EmbeddingResponse(IntStream.range(0, texts.size())
                        .mapToObj(i -> new Embedding(vector(texts.get(i)), i))
                        .toList());
            }

            @Override
            public float[] embed(Document document) {
                return vector(document.getText());
            }

            private float[] vector(String text) {
                return model.embed(text).content().vector();
            }
        };
    }

    private static List<Document> passages(Path guides) throws IOException {
        List<Document> passages = new ArrayList<>();
        try (Stream<Path> files = Files.list(guides)) {
            for (Path file : files.sorted().toList()) {
                for (String passage : Files.readString(file).split("\n\n")) {
                    if (Character.isLetter(passage.charAt(0))) {
                        passages.add(new Document(
                                passage.replace('\n', ' '), Map.of("guide", file.getFileName().toString())));
                    }
                }
            }
        }
        return passages;
    }
}
