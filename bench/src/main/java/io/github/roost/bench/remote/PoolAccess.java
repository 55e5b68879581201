package io.github.roost.bench.remote;

import io.github.roost.index.remote.RemoteMemory;
import java.nio.file.Path;
import java.util.Objects;

/**
 * A benchmark's access to the file of a pool.
 *
 * @param memory the provider
 * @param region the file's name at the provider
 * @param end stops exposing the file
 */
public record PoolAccess(RemoteMemory memory, String region, Runnable end) implements AutoCloseable {
    /** Access by mapping the file itself. */
    public static PoolAccess mapped(Path file) {
        Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent(), "the file must have a folder");
        return new PoolAccess(RemoteMemory.mapped(folder), file.getFileName().toString(), () -> {});
    }

    @Override
    public void close() {
        memory.close();
        end.run();
    }
}
