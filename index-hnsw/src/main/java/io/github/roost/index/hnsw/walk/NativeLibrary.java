package io.github.roost.index.hnsw.walk;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** The walk's shared library, which travels as a resource of the module. */
final class NativeLibrary {
    private NativeLibrary() {}

    /** Loads it for the life of the JVM, by way of a file that only its owner can read and that is gone at once. */
    @SuppressWarnings("restricted")
    static SymbolLookup load() throws IOException {
        Path file = Files.createTempFile("roost-hnsw-", ".so");
        try {
            String resource = "/native/" + platform() + "/libroost_hnsw.so";
            try (InputStream library = NativeLibrary.class.getResourceAsStream(resource)) {
                if (library == null) {
                    throw new FileNotFoundException("no resource " + resource);
                }
                Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
            }
            return SymbolLookup.libraryLookup(file, Arena.global());
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private static String platform() {
        String architecture = switch (System.getProperty("os.arch")) {
            case "amd64", "x86_64" -> "x86_64";
            case "aarch64" -> "aarch64";
            default -> System.getProperty("os.arch");
        };
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        return system.replace(' ', '-') + "-" + architecture;
    }
}
