package io.github.roost.core.kernel;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Shared libraries that travel as resources of a module. Stateless. */
final class NativeResource {
    private static final String DIRECTORY_PROPERTY = "roost.native.directory";

    private NativeResource() {}

    /**
     * Loads a library from a file.
     *
     * @param <T> what it is loaded as
     */
    @FunctionalInterface
    interface Loader<T> {
        /**
         * Loads the library.
         *
         * @param file that holds it until this method returns
         * @return what it is loaded as
         */
        T load(Path file);
    }

    /**
     * Has the library for this machine's operating system and architecture loaded. The first of these that there is:
     *
     * <ol>
     *   <li>{@code SYSTEM-ARCHITECTURE/libNAME.so} in the directory that the system property {@code roost.native.directory} names,
     *   <li>{@code native/SYSTEM-ARCHITECTURE/libNAME.so} beside the module's jar, so that one may be shipped to machines on which
     *       temporary files must not be executed,
     *   <li>the resource of that name, copied to a file that only its owner can read and that is gone when this method returns.
     * </ol>
     *
     * @param <T> what it is loaded as
     * @param owner a class of the module that brings {@code native/SYSTEM-ARCHITECTURE/libNAME.so}
     * @param name the library's
     * @param loader loads it
     * @return what the loader returns
     * @throws IOException if the module brings none for this machine, or the file cannot be written
     */
    static <T> T load(Class<?> owner, String name, Loader<T> loader) throws IOException {
        String ofPlatform = platform() + "/lib" + name + ".so";
        Path named = inNamedDirectory(ofPlatform);
        if (named != null) {
            return loader.load(named);
        }
        String library = "native/" + ofPlatform;
        Path shipped = besideJar(owner, library);
        if (shipped != null) {
            return loader.load(shipped);
        }
        String resource = "/" + library;
        Path file = Files.createTempFile(name + "-", ".so");
        try {
            try (InputStream content = owner.getResourceAsStream(resource)) {
                if (content == null) {
                    throw new FileNotFoundException("no resource " + resource);
                }
                // Into the file that is there: a copy that replaced it would be open to all.
                try (OutputStream out = Files.newOutputStream(file)) {
                    content.transferTo(out);
                }
            }
            return loader.load(file);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private static @Nullable Path inNamedDirectory(String library) {
        String directory = System.getProperty(DIRECTORY_PROPERTY, "");
        Path file = Path.of(directory, library);
        return !directory.isEmpty() && Files.isRegularFile(file) ? file : null;
    }

    private static @Nullable Path besideJar(Class<?> owner, String library) {
        CodeSource source = owner.getProtectionDomain().getCodeSource();
        URL jar = source == null ? null : source.getLocation();
        if (jar == null || !jar.getProtocol().equals("file") || !jar.getPath().endsWith(".jar")) {
            return null;
        }
        Path file = Path.of(URI.create(jar.toString())).resolveSibling(library);
        return Files.isRegularFile(file) ? file : null;
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
