package io.github.roost.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import picocli.CommandLine.Option;

/** {@code --json} of a benchmark: prints either a table line by line, or all results as JSON at the end. */
final class JsonOption {
    private final Streams streams;

    @Option(names = "--json", description = "Every figure as JSON instead of a table.")
    private boolean json;

    JsonOption(Streams streams) {
        this.streams = streams;
    }

    /** Prints a line of the table. */
    void line(String text) {
        if (!json) {
            streams.out().println(text);
        }
    }

    /** Prints the results of the whole run. */
    void print(Map<String, ?> figures) throws JsonProcessingException {
        if (json) {
            streams.out()
                    .println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(figures));
        }
    }
}
