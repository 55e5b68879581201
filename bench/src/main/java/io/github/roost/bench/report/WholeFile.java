package io.github.roost.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Files that are whole or as they were, whatever interrupts. Stateless. */
final class WholeFile {
    private WholeFile() {}

    static void write(Path file, String text) throws IOException {
        Path draft = file.resolveSibling(file.getFileName() + ".part");
        Files.writeString(draft, text);
        Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }
}
