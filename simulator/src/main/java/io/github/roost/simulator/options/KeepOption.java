package io.github.roost.simulator.options;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --keep} of a benchmark that builds large indexes. */
public final class KeepOption {
    @Option(
            names = "--keep",
            paramLabel = "FOLDER",
            description = {
                "Keeps the indexes there for later runs with the same rows and settings: building them takes most of",
                "the time. The folder is created if it does not exist, and never deleted. bench rivals always builds",
                "jvector and the live table."
            })
    private @Nullable Path folder;

    /** The folder to keep indexes in; null if they are not kept. */
    public @Nullable Path folder() {
        return folder;
    }
}
