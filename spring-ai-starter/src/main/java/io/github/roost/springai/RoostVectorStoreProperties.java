package io.github.roost.springai;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The properties of the store.
 *
 * @param folder the folder of the documents; made if it is missing
 * @param collection the name of the collection in the folder
 * @param memoryLimit max off-heap memory of the vectors of each collection; no limit if it is not set
 */
@ConfigurationProperties("spring.ai.vectorstore.roost")
record RoostVectorStoreProperties(
        @DefaultValue("roost") Path folder,
        @DefaultValue("default") String collection,
        @Nullable DataSize memoryLimit) {}
