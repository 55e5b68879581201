package io.github.roost.springai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.metrics.RoostMetrics;
import io.github.roost.documents.DocumentStore;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.vectorstore.VectorStore;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class AutoConfigurationTest {
    @TempDir
    private Path folder;

    private final TestObservationRegistry observations = TestObservationRegistry.create();

    private ApplicationContextRunner runner() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RoostVectorStoreAutoConfiguration.class))
                .withBean(EmbeddingModel.class, MadeUpModel::new)
                .withBean(TestObservationRegistry.class, () -> observations)
                .withPropertyValues("spring.ai.vectorstore.roost.folder=" + folder.resolve("store"));
    }

    @Test
    void springFindsTheConfiguration() {
        assertThat(ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader()))
                .contains(RoostVectorStoreAutoConfiguration.class.getName());
    }

    @Test
    void aStoreIsThereWithObservationsAndMetricsAndKeepsItsDocuments() {
        runner().run(context -> {
            VectorStore store = context.getBean(VectorStore.class);
            store.add(List.of(new Document("1", "one", java.util.Map.of())));
            assertThat(store.similaritySearch("one")).hasSize(1);
            TestObservationRegistryAssert.assertThat(observations)
                    .hasObservationWithNameEqualTo("db.vector.client.operation")
                    .that()
                    .hasLowCardinalityKeyValue("db.system", "roost");
            SimpleMeterRegistry meters = new SimpleMeterRegistry();
            context.getBean(RoostMetrics.class).bindTo(meters);
            assertThat(meters.getMeters())
                    .anyMatch(meter -> meter.getId().getName().startsWith("roost."));
        });
        runner().run(context -> assertThat(context.getBean(VectorStore.class).similaritySearch("one"))
                .hasSize(1));
    }

    @Test
    void propertiesNameFolderCollectionAndLimit() {
        runner().withPropertyValues(
                        "spring.ai.vectorstore.roost.collection=tenant",
                        "spring.ai.vectorstore.roost.memory-limit=64MB")
                .run(context -> {
                    context.getBean(VectorStore.class).add(List.of(new Document("one")));
                    assertThat(context.getBean(DocumentStore.class).collections())
                            .containsExactly("tenant");
                    assertThat(folder.resolve("store").resolve("documents.mv")).exists();
                });
    }

    @Test
    void anotherTypeOfStoreIsNotInTheWay() {
        runner().withPropertyValues("spring.ai.vectorstore.type=pgvector")
                .run(context -> assertThat(context).doesNotHaveBean(VectorStore.class));
        assertThat(Files.exists(folder.resolve("store"))).isFalse();
    }

    @Test
    void runsWithoutMicrometersCore() {
        runner().withClassLoader(new FilteredClassLoader("io.micrometer.core"))
                .run(context ->
                        assertThat(context).hasSingleBean(VectorStore.class).doesNotHaveBean(RoostMetrics.class));
    }
}
