package io.github.roost.langchain4j;

import io.github.roost.testkit.TemporaryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** An empty store for each test, opened at its first use: the kits use it before a test's own preparation. */
final class StoreOfTest implements AfterEachCallback {
    private @Nullable TemporaryFolder folder;
    private @Nullable RoostEmbeddingStore store;

    RoostEmbeddingStore store() {
        if (store == null) {
            try {
                folder = new TemporaryFolder("roost-langchain4j");
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
            store = new RoostEmbeddingStore(folder.path());
        }
        return store;
    }

    @Override
    public void afterEach(ExtensionContext test) throws IOException {
        if (store != null && folder != null) {
            store.close();
            folder.close();
        }
    }
}
