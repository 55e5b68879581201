package io.github.roost.vector.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeResourceTest {
    private static final byte[] LIBRARY = {1, 2, 3};
    private static final String CHECKSUM = "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81";
    private static final String DIRECTORY = "roost.native.directory";

    private final @Nullable String directoryBefore = System.getProperty(DIRECTORY);

    /** Stands for a class of a module that brings a library. */
    static final class Owner {}

    /** Runs with the sanitized kernels set it. */
    @BeforeEach
    void withoutTheProperty() {
        System.clearProperty(DIRECTORY);
    }

    @Test
    void theLoaderSeesTheLibraryInAFileOfItsOwnersAloneThatIsGoneAfterwards() throws Exception {
        Path file = NativeResource.load(owner(), "thing", loaded -> {
            assertThat(loaded).hasBinaryContent(LIBRARY);
            assertThat(permissions(loaded)).isEqualTo("rw-------");
            return loaded;
        });
        assertThat(file).doesNotExist();
    }

    @Test
    void theFileIsGoneWhereItCannotBeLoadedAndThePropertyForAnotherFolderIsNamed() {
        Path[] file = new Path[1];
        assertThatThrownBy(() -> NativeResource.load(owner(), "thing", loaded -> {
                    file[0] = loaded;
                    throw new IllegalArgumentException("not a library");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("libthing.so cannot be loaded from " + System.getProperty("java.io.tmpdir")
                        + ": set -Droost.native.directory to a folder from which code may be loaded")
                .hasRootCauseMessage("not a library");
        assertThat(file[0]).doesNotExist();
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamed(@TempDir Path directory) {
        Path absent = directory.resolve("absent");
        System.setProperty(DIRECTORY, absent.toString());
        assertThatThrownBy(() -> NativeResource.load(owner(), "thing", loaded -> loaded))
                .hasMessageStartingWith(
                        "libthing.so cannot be loaded from " + absent + ": set -Droost.native.directory");
    }

    @Test
    void aDamagedLibraryIsNotLoaded() {
        for (String checksum : List.of("", CHECKSUM.replace('0', '1'))) {
            assertThatThrownBy(() -> NativeResource.load(owner(checksum), "thing", loaded -> {
                        throw new AssertionError("loaded");
                    }))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(
                            "/libthing.so is damaged: its SHA-256 must be " + checksum + ", is " + CHECKSUM);
        }
    }

    @AfterEach
    void restoreDirectory() {
        if (directoryBefore == null) {
            System.clearProperty(DIRECTORY);
        } else {
            System.setProperty(DIRECTORY, directoryBefore);
        }
    }

    @Test
    void aLibraryThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> NativeResource.load(NativeResourceTest.class, "thing", loaded -> loaded))
                .isInstanceOf(FileNotFoundException.class)
                .hasMessageContaining("/native/")
                .hasMessageContaining("/libthing.so");
    }

    @Test
    void aLibraryInTheDirectoryThatThePropertyNamesComesFirstAndOneThatItLacksIsUnpackedThere(@TempDir Path directory)
            throws Exception {
        System.setProperty(DIRECTORY, directory.toString());
        Path unpacked = NativeResource.load(owner(), "thing", loaded -> {
            assertThat(loaded).hasBinaryContent(LIBRARY);
            return loaded;
        });
        assertThat(unpacked.getParent()).isEqualTo(directory);
        assertThat(unpacked).doesNotExist();
        String platform = "linux-" + System.getProperty("os.arch").replace("amd64", "x86_64");
        Path named = Files.createDirectory(directory.resolve(platform)).resolve("libthing.so");
        Files.write(named, new byte[] {4});
        assertThat(NativeResource.<Path>load(owner(), "thing", loaded -> loaded))
                .isEqualTo(named);
        assertThat(named).exists();
    }

    private static String permissions(Path file) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Class<?> owner() throws IOException {
        return owner(CHECKSUM);
    }

    private static Class<?> owner(String checksum) throws IOException {
        String name = Owner.class.getName();
        byte[] code;
        try (InputStream compiled = Owner.class.getResourceAsStream("NativeResourceTest$Owner.class")) {
            code = compiled.readAllBytes();
        }
        return new ClassLoader() {
            private Class<?> defined() {
                return defineClass(name, code, 0, code.length);
            }

            @Override
            public @Nullable InputStream getResourceAsStream(String resource) {
                if (!resource.startsWith("native/")) {
                    return null;
                }
                if (resource.endsWith("/libthing.so.sha256")) {
                    return new ByteArrayInputStream((checksum + "\n").getBytes(StandardCharsets.US_ASCII));
                }
                return resource.endsWith("/libthing.so") ? new ByteArrayInputStream(LIBRARY) : null;
            }
        }.defined();
    }
}
