package io.github.roost.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Rows of a JSON lines file: one object per line with an {@code id}, a {@code vector} and optional {@code attributes}. Ids are 64-bit integers,
 * or texts: then a row's ordinal is its id, and the text its key. Attribute {@code name} is a row's name, without it the id; the other attributes
 * are its text.
 */
final class JsonRows {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            // Otherwise a second row on a line would be ignored.
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final List<Long> ids = new ArrayList<>();
    private final List<float[]> vectors = new ArrayList<>();
    private final Map<Long, Item> items = new HashMap<>();
    /** The ids that are texts: of all rows, or of none. */
    private final Set<String> keys = new HashSet<>();

    private JsonRows() {}

    /** @throws IOException if the file cannot be read; the message names it, and the line that is wrong */
    static JsonRows read(Path file) throws IOException {
        JsonRows rows = new JsonRows();
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            int number = 1;
            for (String line = lines.readLine(); line != null; line = lines.readLine(), number++) {
                if (!line.isBlank()) {
                    try {
                        rows.add(MAPPER.readTree(line));
                    } catch (JsonProcessingException broken) {
                        throw new IOException(
                                file + ", line " + number + " must be a JSON object: " + broken.getOriginalMessage(),
                                broken);
                    } catch (IllegalArgumentException wrong) {
                        throw new IOException(file + ", line " + number + ": " + wrong.getMessage(), wrong);
                    }
                }
            }
        } catch (CharacterCodingException noText) {
            throw new IOException(file + " must be text in UTF-8: " + noText.getMessage(), noText);
        }
        if (rows.vectors.isEmpty()) {
            throw new IOException(file + " must hold at least one row, got none");
        }
        return rows;
    }

    private void add(JsonNode line) {
        float[] vector = vector(line.path("vector"));
        JsonNode id = line.path("id");
        String key = id.isTextual() ? id.asText() : "";
        long number = key.isEmpty() ? number(id) : vectors.size();
        if (!vectors.isEmpty() && key.isEmpty() != keys.isEmpty()) {
            throw new IllegalArgumentException("ids must be all numbers or all texts, got " + shortly(id));
        }
        if (!Item.canEndPath(key)) {
            throw new IllegalArgumentException("id must be a text in one line that is not . or .., got " + shortly(id));
        }
        JsonNode attributes = line.path("attributes");
        if (!attributes.isMissingNode() && !attributes.isObject()) {
            throw new IllegalArgumentException("attributes must be an object, got " + shortly(attributes));
        }
        String name = attributes.path("name").asText(id.asText());
        Item item = new Item(key, name, words(attributes), RowAttributes.of(attributes));
        if (items.put(number, item) != null || (!key.isEmpty() && !keys.add(key))) {
            throw new IllegalArgumentException("id " + id + " is in an earlier line, too");
        }
        ids.add(number);
        vectors.add(vector);
    }

    private static long number(JsonNode id) {
        if (!id.isIntegralNumber() || !id.canConvertToLong()) {
            throw new IllegalArgumentException("id must be a whole number of 64 bits or a text, got " + shortly(id));
        }
        return id.longValue();
    }

    private float[] vector(JsonNode components) {
        if (!components.isArray()) {
            throw new IllegalArgumentException("vector must be an array of numbers, got " + shortly(components));
        }
        int dimension = vectors.isEmpty() ? components.size() : vectors.getFirst().length;
        if (components.size() != dimension) {
            throw new IllegalArgumentException(
                    "vector must have " + dimension + " dimensions, as in earlier lines, got " + components.size());
        }
        Vectors.requireRange("dimension", dimension, 1, Vectors.MAX_DIMENSIONS);
        float[] vector = new float[dimension];
        for (int i = 0; i < dimension; i++) {
            if (!components.get(i).isNumber()
                    || !Float.isFinite(components.get(i).floatValue())) {
                throw new IllegalArgumentException(
                        "vector must be finite, got " + shortly(components.get(i)) + " in dimension " + i);
            }
            vector[i] = components.get(i).floatValue();
        }
        return vector;
    }

    private static String words(JsonNode attributes) {
        return attributes.properties().stream()
                .filter(attribute -> !attribute.getKey().equals("name"))
                .map(attribute -> attribute.getKey() + ": "
                        + (attribute.getValue().isTextual()
                                ? attribute.getValue().asText()
                                : attribute.getValue().toString()))
                .collect(Collectors.joining(", "));
    }

    private static String shortly(@Nullable JsonNode value) {
        String text = value == null || value.isMissingNode() ? "nothing" : value.toString();
        return text.length() > 40 ? text.substring(0, 40) + "..." : text;
    }

    /** The words of the rows, by id. */
    Map<Long, Item> items() {
        return items;
    }

    UserTable.Rows rows() {
        return new UserTable.Rows(
                ids.stream().mapToLong(Long::longValue).toArray(),
                VectorSource.of(vectors.toArray(float[][]::new)),
                () -> {});
    }
}
