package io.github.roost.springai;

import io.github.roost.core.metrics.RoostMetrics;
import io.github.roost.documents.DocumentStore;
import io.github.roost.vector.Metric;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import org.springframework.ai.embedding.BatchingStrategy;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.TokenCountBatchingStrategy;
import org.springframework.ai.vectorstore.SpringAIVectorStoreTypes;
import org.springframework.ai.vectorstore.observation.VectorStoreObservationConvention;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of a {@link RoostVectorStore}, of the {@link DocumentStore} beneath it, and of the metrics of the workers that search it.
 * Applies unless {@code spring.ai.vectorstore.type} names another store.
 */
@AutoConfiguration
@EnableConfigurationProperties(RoostVectorStoreProperties.class)
@ConditionalOnProperty(name = SpringAIVectorStoreTypes.TYPE, havingValue = "roost", matchIfMissing = true)
final class RoostVectorStoreAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    BatchingStrategy roostBatchingStrategy() {
        return new TokenCountBatchingStrategy();
    }

    @Bean
    @ConditionalOnMissingBean
    DocumentStore roostDocumentStore(RoostVectorStoreProperties properties) throws IOException {
        DocumentStore.Builder builder = DocumentStore.builder().metric(Metric.COSINE);
        if (properties.memoryLimit() != null) {
            builder.memoryLimit(properties.memoryLimit().toBytes());
        }
        return builder.open(properties.folder());
    }

    @Bean
    @ConditionalOnMissingBean
    RoostVectorStore vectorStore(
            DocumentStore store,
            EmbeddingModel embeddingModel,
            RoostVectorStoreProperties properties,
            BatchingStrategy batchingStrategy,
            ObjectProvider<ObservationRegistry> observationRegistry,
            ObjectProvider<VectorStoreObservationConvention> convention) {
        return RoostVectorStore.builder(store, embeddingModel)
                .collection(properties.collection())
                .batchingStrategy(batchingStrategy)
                .observationRegistry(observationRegistry.getIfUnique(() -> ObservationRegistry.NOOP))
                .customObservationConvention(convention.getIfAvailable())
                .build();
    }

    /** Separate, so that a program without Micrometer's core does not load its classes. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterBinder.class)
    static class Metrics {
        @Bean
        @ConditionalOnMissingBean
        RoostMetrics roostMetrics(DocumentStore store) {
            return new RoostMetrics(store.orchestrator());
        }
    }
}
