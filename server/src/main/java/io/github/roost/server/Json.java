package io.github.roost.server;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Converts JSON bodies to records and back. Parsing is strict: mistakes are reported, not guessed at. */
final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .addModule(new WholeNumbers())
            .withCoercionConfig(
                    LogicalType.Textual,
                    texts -> texts.setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Float, CoercionAction.Fail))
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            // So that the check of values reports NaN in a vector.
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();

    private Json() {}

    static byte[] write(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    static JsonNode tree(byte[] json) {
        try {
            return MAPPER.readTree(json);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** @throws Problem 400 if the body is not JSON, or not of this form */
    static <T> T read(byte[] body, Class<T> form) {
        if (body.length == 0) {
            throw new Problem(400, "the body must be JSON, got an empty body");
        }
        try (JsonParser parser = new NoNulls(MAPPER.createParser(body))) {
            return MAPPER.readValue(parser, form);
        } catch (UnrecognizedPropertyException e) {
            throw new Problem(
                    400,
                    (e.getPath().size() < 2
                                    ? "the body"
                                    : path(e.getPath().subList(0, e.getPath().size() - 1)))
                            + " must have no other fields than " + known(e) + ", got " + quoted(e.getPropertyName()));
        } catch (JsonMappingException e) {
            throw new Problem(400, "the body does not fit: " + where(e) + oneSentence(e));
        } catch (JsonProcessingException e) {
            throw new Problem(400, "the body must be JSON: " + oneSentence(e));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String known(UnrecognizedPropertyException e) {
        return e.getKnownPropertyIds().stream().map(String::valueOf).sorted().collect(Collectors.joining(", "));
    }

    private static String where(JsonMappingException e) {
        String path = path(e.getPath());
        return path.isEmpty() ? "" : path + ": ";
    }

    private static String path(List<JsonMappingException.Reference> steps) {
        return steps.stream()
                .map(step -> step.getFieldName() == null ? "[" + step.getIndex() + "]" : step.getFieldName())
                .collect(Collectors.joining("."));
    }

    private static String quoted(String text) {
        return '"' + (text.length() > 40 ? text.substring(0, 40) + "..." : text) + '"';
    }

    /** The error message without the class names that follow it in brackets. */
    private static String oneSentence(JsonProcessingException e) {
        String message = e.getOriginalMessage().lines().findFirst().orElse("");
        int ends = message.indexOf(" (");
        String sentence = (ends > 0 ? message.substring(0, ends) : message)
                .replaceAll("(value )?of type `[^`]*`", "the value")
                .replaceAll("Cannot construct instance of `[^`]*`", "it must be an object");
        return sentence.length() > 200 ? sentence.substring(0, 200) + "..." : sentence;
    }

    /** Rejects every null: an absent field has its default, and no field accepts null. */
    private static final class NoNulls extends JsonParserDelegate {
        NoNulls(JsonParser parser) {
            super(parser);
        }

        @Override
        public @Nullable JsonToken nextToken() throws IOException {
            JsonToken token = super.nextToken();
            if (token == JsonToken.VALUE_NULL) {
                throw new JsonParseException(this, "null is not allowed, leave the field out");
            }
            return token;
        }
    }
}
