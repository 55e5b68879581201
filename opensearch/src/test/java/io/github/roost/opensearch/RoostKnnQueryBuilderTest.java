package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.opensearch.common.io.stream.BytesStreamOutput;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.xcontent.json.JsonXContent;
import org.opensearch.core.common.bytes.BytesReference;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.xcontent.DeprecationHandler;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.core.xcontent.XContentParser;

class RoostKnnQueryBuilderTest {
    /** After the boost and the absent name, which OpenSearch writes. */
    private static final int PLACE_OF_VERSION = Float.BYTES + 1;

    @AutoClose
    private final RoostNode node = RoostNode.start(Settings.builder()
            .put("roost.pinning", false)
            .put("node.processors", 1)
            .build());

    private byte[] written(String json) throws IOException {
        try (XContentParser parser = JsonXContent.jsonXContent.createParser(
                        NamedXContentRegistry.EMPTY, DeprecationHandler.IGNORE_DEPRECATIONS, json);
                BytesStreamOutput out = new BytesStreamOutput()) {
            parser.nextToken();
            RoostKnnQueryBuilder.parse(node, parser).writeTo(out);
            return BytesReference.toBytes(out.bytes());
        }
    }

    private RoostKnnQueryBuilder read(byte[] bytes) throws IOException {
        return new RoostKnnQueryBuilder(node, StreamInput.wrap(bytes));
    }

    @Test
    void aQueryArrivesAsItWasSent() throws IOException {
        String query = """
                {"v":{"vectors":[[1.0,2.0],[3.0,4.0]],"k":7,"effort":9,"min_score":0.5,"ignore_unmapped":true}}""";
        assertThat(read(written(query)).toString().replaceAll("\\s", ""))
                .contains(
                        "\"vectors\":[[1.0,2.0],[3.0,4.0]],\"k\":7,\"effort\":9,\"min_score\":0.5,\"ignore_unmapped\":true");
    }

    @Test
    void aQueryOfANewerPluginIsRefusedWithWhatToDo() throws IOException {
        byte[] newer = written("{\"v\":{\"vector\":[1,2]}}");
        newer[PLACE_OF_VERSION]++;
        assertThatThrownBy(() -> read(newer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "[roost_knn] the query has an option of a newer plugin (version 2), and this node knows version 1:"
                                + " upgrade its plugin");
    }
}
