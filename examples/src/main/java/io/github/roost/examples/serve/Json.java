package io.github.roost.examples.serve;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.stream.Collectors;

/** Bodies to records and back: strict in what it takes, so that a slip of the pen is told and not guessed at. */
final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            // So that NaN in a vector is told as such, by the check of its values.
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

    /** @throws Problem 400 if the body is not JSON, or not of this form */
    static <T> T read(byte[] body, Class<T> form) {
        try (JsonParser parser = MAPPER.createParser(body)) {
            T value = MAPPER.readValue(parser, form);
            if (value == null) {
                throw new Problem(400, "the body must be a JSON object, got null");
            }
            return value;
        } catch (UnrecognizedPropertyException e) {
            throw new Problem(
                    400,
                    "the body must have no other fields than " + known(e) + ", got " + quoted(e.getPropertyName()));
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
        String path = e.getPath().stream()
                .map(step -> step.getFieldName() == null ? "[" + step.getIndex() + "]" : step.getFieldName())
                .collect(Collectors.joining("."));
        return path.isEmpty() ? "" : path + ": ";
    }

    private static String quoted(String text) {
        return '"' + (text.length() > 40 ? text.substring(0, 40) + "..." : text) + '"';
    }

    /** What is wrong, without the names of this program's classes, which come after it in brackets. */
    private static String oneSentence(JsonProcessingException e) {
        String message = e.getOriginalMessage().lines().findFirst().orElse("");
        int ends = message.indexOf(" (");
        String sentence =
                (ends > 0 ? message.substring(0, ends) : message).replaceAll("(value )?of type `[^`]*`", "the value");
        return sentence.length() > 200 ? sentence.substring(0, 200) + "..." : sentence;
    }
}
