package io.github.roost.bench.remote;

import io.github.roost.index.remote.MappedMemory;
import io.github.roost.index.remote.RemoteMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * How a bench reaches the file of a pool.
 *
 * @param memory the provider
 * @param region the file's name at it
 * @param end ends what exposes the file
 */
public record PoolAccess(RemoteMemory memory, String region, Runnable end) implements AutoCloseable {
    /** Makes a file accessible, once it is there. */
    public interface Opener {
        /** Begins to expose a file, until the access is closed. */
        PoolAccess open(Path file) throws IOException;
    }

    /** The file itself, mapped. */
    public static PoolAccess mapped(Path file) {
        Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent(), "a file is in a folder");
        return new PoolAccess(new MappedMemory(folder), file.getFileName().toString(), () -> {});
    }

    @Override
    public void close() {
        memory.close();
        end.run();
    }
}
