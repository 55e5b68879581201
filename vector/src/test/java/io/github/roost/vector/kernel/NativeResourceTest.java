package io.github.roost.vector.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeResourceTest {
    private static final byte[] LIBRARY = {1, 2, 3};

    /** Stands for a class of a module that brings a library. */
    static final class Owner {}

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
    void theFileIsGoneWhereItCannotBeLoaded() {
        Path[] file = new Path[1];
        assertThatThrownBy(() -> NativeResource.load(owner(), "thing", loaded -> {
                    file[0] = loaded;
                    throw new IllegalArgumentException("not a library");
                }))
                .hasMessage("not a library");
        assertThat(file[0]).doesNotExist();
    }

    @Test
    void aLibraryThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> NativeResource.load(NativeResourceTest.class, "thing", loaded -> loaded))
                .isInstanceOf(FileNotFoundException.class)
                .hasMessageContaining("/native/")
                .hasMessageContaining("/libthing.so");
    }

    @Test
    void aLibraryInTheDirectoryThatThePropertyNamesComesFirst(@TempDir Path directory) throws Exception {
        String before = System.getProperty("roost.native.directory");
        System.setProperty("roost.native.directory", directory.toString());
        try {
            assertThat(NativeResource.<byte[]>load(owner(), "thing", NativeResourceTest::bytes))
                    .isEqualTo(LIBRARY);
            String platform = "linux-" + System.getProperty("os.arch").replace("amd64", "x86_64");
            Path named = Files.createDirectory(directory.resolve(platform)).resolve("libthing.so");
            Files.write(named, new byte[] {4});
            assertThat(NativeResource.<Path>load(owner(), "thing", loaded -> loaded))
                    .isEqualTo(named);
            assertThat(named).exists();
        } finally {
            if (before == null) {
                System.clearProperty("roost.native.directory");
            } else {
                System.setProperty("roost.native.directory", before);
            }
        }
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String permissions(Path file) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Class<?> owner() throws IOException {
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
                boolean library = resource.startsWith("native/") && resource.endsWith("/libthing.so");
                return library ? new ByteArrayInputStream(LIBRARY) : null;
            }
        }.defined();
    }
}
