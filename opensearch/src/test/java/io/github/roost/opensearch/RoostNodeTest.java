package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.junit.jupiter.api.Test;
import org.opensearch.common.settings.Settings;

class RoostNodeTest {
    private static final Settings UNPINNED = Settings.builder()
            .put("roost.pinning", false)
            .put("node.processors", 1)
            .build();

    @Test
    void anIndexHasACacheOfGraphsFromItsFirstReaderUntilItIsRemoved() throws IOException {
        try (RoostNode node = RoostNode.start(UNPINNED);
                Directory directory = new ByteBuffersDirectory()) {
            try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig())) {
                writer.addDocument(new Document());
            }
            var wrapper = node.wrapperOf("birds");
            assertThat(node.segmentsWithStockGraphs())
                    .as("an index service without shards")
                    .isEmpty();
            try (DirectoryReader reader = wrapper.apply(DirectoryReader.open(directory))) {
                assertThat(reader.numDocs()).isEqualTo(1);
                assertThat(node.segmentsWithStockGraphs()).containsOnlyKeys("birds");
            }
            node.forget("birds");
            assertThat(node.segmentsWithStockGraphs()).isEmpty();
        }
    }
}
