package io.github.roost.documents;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.SearchRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The file of a store as releases wrote it: all later versions read it. It is in the test resources, in a folder per release. The second test writes it
 * if {@code -Droost.test.release=FOLDER} names where, which is done once per release whose format differs.
 */
class FilesOfReleasesTest {
    private static final List<Document> DOCUMENTS = IntStream.range(0, 40)
            .mapToObj(i -> MadeUpDocuments.document("d" + i, 3))
            .toList();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = "0.1")
    void aStoreOfAReleaseIsRead(String release) throws IOException {
        try (InputStream file = FilesOfReleasesTest.class.getResourceAsStream("/files/" + release + "/documents.mv")) {
            Files.copy(Objects.requireNonNull(file), folder.resolve("documents.mv"));
        }
        assertHolds();
    }

    @Test
    void thisVersionWritesSuchAStore() throws IOException {
        try (DocumentStore store = DocumentStore.open(folder)) {
            store.collection("one").put(DOCUMENTS);
        }
        assertHolds();
        String release = System.getProperty("roost.test.release");
        if (release != null) {
            Files.copy(folder.resolve("documents.mv"), Path.of(release, "documents.mv"));
        }
    }

    private void assertHolds() throws IOException {
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertThat(store.collections()).containsExactly("one");
            DocumentCollection collection = store.collection("one");
            assertThat(collection.size()).isEqualTo(DOCUMENTS.size());
            for (Document each : DOCUMENTS) {
                assertThat(collection.get(each.id())).usingRecursiveComparison().isEqualTo(each);
                assertThat(collection
                                .search(SearchRequest.of(each.vector(), 1), null)
                                .getFirst()
                                .document()
                                .id())
                        .isEqualTo(each.id());
            }
        }
    }
}
