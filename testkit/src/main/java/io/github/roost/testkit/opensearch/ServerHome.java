package io.github.roost.testkit.opensearch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The installation shared by all nodes of one machine: OpenSearch's jars, its transport module and Roost's plugin, installed from its zip. Nodes
 * only read it.
 */
final class ServerHome {
    private static final String TRANSPORT = "modules/transport-netty4";
    private static final List<String> TRANSPORT_FILES =
            List.of("plugin-descriptor.properties", "plugin-security.policy");

    private final Path folder;

    private ServerHome(Path folder) {
        this.folder = folder;
    }

    /**
     * Creates the installation.
     *
     * @param checkout in which module opensearch has been packaged
     * @param folder to create
     */
    static ServerHome layOut(Path checkout, Path folder) throws IOException {
        Path packaged = checkout.resolve("opensearch/target");
        Path server = packaged.resolve("server");
        if (!Files.isDirectory(server)) {
            throw new NoSuchFileException(
                    server.toString(), null, "there is no server; to get one: ./mvnw package -pl opensearch -am");
        }
        for (String name : List.of("", "bin", "config", "extensions", "plugins")) {
            Files.createDirectories(folder.resolve(name));
        }
        for (String name : List.of("lib", "agent", TRANSPORT)) {
            copyFiles(server.resolve(name), folder.resolve(name));
        }
        for (String name : TRANSPORT_FILES) {
            try (InputStream content = ServerHome.class.getResourceAsStream("transport-netty4/" + name)) {
                Files.copy(
                        Objects.requireNonNull(content, name),
                        folder.resolve(TRANSPORT).resolve(name));
            }
        }
        unpack(zip(packaged), folder.resolve("plugins/roost"));
        open(folder);
        return new ServerHome(folder);
    }

    Path folder() {
        return folder;
    }

    /** The Java agent that enforces OpenSearch's policies. */
    Path agent() throws IOException {
        return only(folder.resolve("agent"), "opensearch-agent-[0-9]*.jar");
    }

    private static Path zip(Path packaged) throws IOException {
        return only(packaged, "roost-opensearch-*.zip");
    }

    private static Path only(Path folder, String glob) throws IOException {
        try (var found = Files.newDirectoryStream(folder, glob)) {
            for (Path file : found) {
                return file;
            }
        }
        throw new NoSuchFileException(folder.resolve(glob).toString());
    }

    private static void copyFiles(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    /** Unpacks a plugin as {@code opensearch-plugin install} does. */
    private static void unpack(Path zip, Path folder) throws IOException {
        try (ZipInputStream entries = new ZipInputStream(Files.newInputStream(zip))) {
            for (@Nullable ZipEntry entry = entries.getNextEntry(); entry != null; entry = entries.getNextEntry()) {
                Path file = folder.resolve(entry.getName()).normalize();
                if (!file.startsWith(folder)) {
                    throw new IOException("the plugin's zip has an entry outside of its folder: " + entry.getName());
                }
                if (entry.isDirectory()) {
                    Files.createDirectories(file);
                } else {
                    Files.createDirectories(Objects.requireNonNull(file.getParent()));
                    Files.copy(entries, file);
                }
            }
        }
    }

    /** Makes the files readable to all, since nodes may run as another user. */
    private static void open(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                boolean executable = Files.isDirectory(path) || path.toString().endsWith(".so");
                Files.setPosixFilePermissions(
                        path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
            }
        }
    }
}
