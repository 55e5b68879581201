package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opensearch.common.io.stream.BytesStreamOutput;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.xcontent.json.JsonXContent;
import org.opensearch.core.common.bytes.BytesReference;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"min_score\":0.5",
                "\"max_distance\":0.5",
                "\"max_distance\":-3.0,\"exact\":true",
                "\"k\":7,\"min_score\":0.5,\"exact\":true",
            })
    void aQueryWithALaterOptionArrivesAsItWasSentAndOlderPluginsRefuseIt(String options) throws IOException {
        byte[] written = written("{\"v\":{\"vector\":[1.0,2.0]," + options + "}}");
        assertThat(written[PLACE_OF_VERSION]).isEqualTo((byte) 2);
        assertThat(read(written).toString().replaceAll("\\s", ""))
                .contains("{\"vector\":[1.0,2.0]," + options + ",\"boost\"");
    }

    /** Byte by byte as a plugin writes and reads it that knows no later option. */
    @Test
    void aQueryWithoutLaterOptionsIsUnderstoodByOlderPlugins() throws IOException {
        byte[] written = written("{\"v\":{\"vector\":[1,2],\"k\":300,\"effort\":400,\"min_score\":0.5}}");
        try (BytesStreamOutput out = new BytesStreamOutput()) {
            out.writeFloat(1);
            out.writeOptionalString(null);
            out.writeVInt(1);
            out.writeString("v");
            out.writeCollection(List.of(new float[] {1, 2}), StreamOutput::writeFloatArray);
            out.writeVInt(300);
            out.writeOptionalVInt(400);
            out.writeOptionalFloat(.5f);
            out.writeOptionalNamedWriteable(null);
            out.writeBoolean(false);
            assertThat(written).isEqualTo(BytesReference.toBytes(out.bytes()));
        }
        assertThat(written("{\"v\":{\"vector\":[1,2]}}")[PLACE_OF_VERSION]).isEqualTo((byte) 1);
    }

    @Test
    void aQueryOfANewerPluginIsRefusedWithWhatToDo() throws IOException {
        byte[] newer = written("{\"v\":{\"vector\":[1,2]}}");
        newer[PLACE_OF_VERSION] = 3;
        assertThatThrownBy(() -> read(newer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "[roost_knn] the query has an option of a newer plugin (version 3), and this node knows version 2:"
                                + " upgrade its plugin");
    }
}
