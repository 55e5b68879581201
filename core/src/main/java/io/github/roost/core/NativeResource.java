package io.github.roost.core;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Shared libraries that travel as resources of a module. Stateless. */
public final class NativeResource {
    private NativeResource() {}

    /**
     * Loads a library from a file: the caller's part, for native access is granted to the caller's module.
     *
     * @param <T> what it is loaded as
     */
    @FunctionalInterface
    public interface Loader<T> {
        /**
         * Loads the library.
         *
         * @param file that holds it until this method returns
         * @return what it is loaded as
         */
        T load(Path file);
    }

    /**
     * Has the library for this machine's operating system and architecture loaded, from a file that only its owner can read
     * and that is gone when this method returns.
     *
     * @param <T> what it is loaded as
     * @param owner a class of the module that brings {@code native/SYSTEM-ARCHITECTURE/libNAME.so}
     * @param name the library's
     * @param loader loads it
     * @return what the loader returns
     * @throws IOException if the module brings none for this machine, or the file cannot be written
     */
    public static <T> T load(Class<?> owner, String name, Loader<T> loader) throws IOException {
        String resource = "/native/" + platform() + "/lib" + name + ".so";
        Path file = Files.createTempFile(name + "-", ".so");
        try {
            try (InputStream library = owner.getResourceAsStream(resource)) {
                if (library == null) {
                    throw new FileNotFoundException("no resource " + resource);
                }
                // Into the file that is there: a copy that replaced it would be open to all.
                try (OutputStream out = Files.newOutputStream(file)) {
                    library.transferTo(out);
                }
            }
            return loader.load(file);
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
