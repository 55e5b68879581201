package io.github.roost.bench.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.roost.bench.Provenance;
import io.github.roost.simulator.SimResult;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A run: its provenance and the results of its parts. Its JSON holds every figure with its spread.
 *
 * @param written time of the run, as an ISO 8601 instant
 * @param quick whether it was a quick run, whose figures are not reliable
 * @param provenance of the figures
 * @param parts in order
 */
public record Results(String written, boolean quick, Provenance provenance, List<PartResult> parts) {
    static final JsonMapper JSON = JsonMapper.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .addMixIn(SimResult.Window.class, Condensed.ShortWindow.class)
            .build();

    public Results {
        parts = List.copyOf(parts);
    }

    /**
     * Reads a run from its file.
     *
     * @throws IOException if the file cannot be read or holds no run; the message names it
     */
    public static Results read(Path file) throws IOException {
        try {
            return JSON.readValue(Files.readString(file), Results.class);
        } catch (JsonProcessingException | NullPointerException broken) {
            throw new IOException(file + " must be the results.json of a run of roost bench all", broken);
        }
    }

    /** Writes the run as JSON; replaces the file atomically. */
    public void write(Path file) throws IOException {
        StringBuilder text = new StringBuilder();
        text.append("{\"written\": %s,%n\"quick\": %s,%n\"provenance\": %s,%n\"parts\": ["
                .formatted(json(written), quick, json(provenance)));
        for (int i = 0; i < parts.size(); i++) {
            // One line per part, so that a change of one part changes one line.
            text.append(i == 0 ? "\n" : ",\n").append(json(parts.get(i)));
        }
        String json = text.append("\n]}\n").toString();
        WholeFile.replace(file, channel -> WholeFile.writeAll(channel, StandardCharsets.UTF_8.encode(json)));
    }

    private static String json(Object value) throws JsonProcessingException {
        return JSON.writeValueAsString(value);
    }

    Optional<PartResult> part(String name) {
        return parts.stream().filter(part -> part.name().equals(name)).findFirst();
    }
}
