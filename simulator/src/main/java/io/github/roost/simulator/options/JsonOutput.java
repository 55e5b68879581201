package io.github.roost.simulator.options;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import picocli.CommandLine.Option;

/** {@code --json} of a benchmark: prints either tables line by line, or all results as JSON at the end. */
public final class JsonOutput extends Output {
    @Option(names = "--json", description = "Every figure as JSON instead of a table.")
    private boolean json;

    /** Prints a line of a table. */
    @Override
    public void line(String text) {
        if (!json) {
            super.line(text);
        }
    }

    /** Prints the results of the whole run. */
    public void print(Object figures) throws JsonProcessingException {
        if (json) {
            printed(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(figures));
        }
    }
}
