package io.github.roost.vector.kernel;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Linker;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.CodeSource;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Loads shared libraries that modules contain as resources. Stateless. */
final class NativeResource {
    private static final String DIRECTORY_PROPERTY = "roost.native.directory";

    private NativeResource() {}

    /**
     * Loads a library from a file.
     *
     * @param <T> the type of the result
     */
    @FunctionalInterface
    interface Loader<T> {
        /**
         * Loads the library.
         *
         * @param file the library; may be deleted after this method returns
         * @return the loaded library
         */
        T load(Path file);
    }

    /**
     * Loads the library for this machine's operating system and architecture, from the first of these that exists:
     *
     * <ol>
     *   <li>{@code SYSTEM-ARCHITECTURE/libNAME.so} in the directory named by the system property {@code roost.native.directory},
     *   <li>{@code native/SYSTEM-ARCHITECTURE/libNAME.so} next to the module's jar, for machines on which temporary files must not be
     *       executed,
     *   <li>the resource of that name, if it has the checksum in the resource beside it: copied to a file that only its owner can read and
     *       that is deleted before this method returns, in the directory of the property, or else in the one for temporary files.
     * </ol>
     *
     * @param <T> the type of the result
     * @param owner a class of the module that contains {@code native/SYSTEM-ARCHITECTURE/libNAME.so}
     * @param name the name of the library, without {@code lib} and {@code .so}
     * @param loader loads the file
     * @return the result of the loader
     * @throws IOException if the module contains no library for this machine, the library is damaged, or it cannot be loaded from the file
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
        return loadFromFile(checked(owner, "/" + library), name, loader);
    }

    private static byte[] checked(Class<?> owner, String resource) throws IOException {
        byte[] library = bytes(owner, resource);
        String expected = new String(bytes(owner, resource + ".sha256"), StandardCharsets.US_ASCII).strip();
        String actual = HexFormat.of().formatHex(sha256().digest(library));
        if (!actual.equals(expected)) {
            throw new IOException(resource + " is damaged: its SHA-256 must be " + expected + ", is " + actual);
        }
        return library;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JVM has SHA-256", impossible);
        }
    }

    private static byte[] bytes(Class<?> owner, String resource) throws IOException {
        try (InputStream content = owner.getResourceAsStream(resource)) {
            if (content == null) {
                throw new FileNotFoundException("no resource " + resource);
            }
            return content.readAllBytes();
        }
    }

    private static <T> T loadFromFile(byte[] library, String name, Loader<T> loader) throws IOException {
        String directory = System.getProperty(DIRECTORY_PROPERTY, "");
        Path unpacked = Path.of(directory.isEmpty() ? System.getProperty("java.io.tmpdir") : directory);
        try {
            Path file = Files.createTempFile(unpacked, name + "-", ".so");
            try {
                // Writes into the existing file, since one that Files.write creates would have default permissions.
                Files.write(file, library, StandardOpenOption.TRUNCATE_EXISTING);
                return loader.load(file);
            } finally {
                Files.deleteIfExists(file);
            }
        } catch (IOException | IllegalArgumentException failure) {
            throw new IOException(
                    "lib" + name + ".so cannot be loaded from " + unpacked + ": "
                            + (hasGlibc()
                                    ? "set -D" + DIRECTORY_PROPERTY + " to a folder from which code may be loaded"
                                    : "it needs glibc, but this JVM runs on another C library, such as musl"),
                    failure);
        }
    }

    private static boolean hasGlibc() {
        return Linker.nativeLinker()
                .defaultLookup()
                .find("gnu_get_libc_version")
                .isPresent();
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
