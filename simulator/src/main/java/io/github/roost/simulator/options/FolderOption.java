package io.github.roost.simulator.options;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** {@code --folder} for the files that a benchmark writes, and deletes at its end. */
public final class FolderOption {
    /** The temporary folder. */
    public static final Path TEMPORARY = Path.of(System.getProperty("java.io.tmpdir"));

    @Option(names = "--folder", paramLabel = "DIR", description = "Folder for files; default ${DEFAULT-VALUE}.")
    private Path folder;

    /** Creates the option with its default. */
    public FolderOption(Path folder) {
        this.folder = folder;
    }

    /** The folder. */
    public Path path() {
        return folder;
    }
}
