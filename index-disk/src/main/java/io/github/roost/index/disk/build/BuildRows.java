package io.github.roost.index.disk.build;

import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.file.PrivateFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The rows that a table is built from, in the table's space, off-heap: mapped from a temporary file in the table's folder, so that
 * there may be more rows than memory holds; or in memory, if that folder is not in the file system. Each row is written
 * once, by one thread, before other threads read it. Only the owner may access the file; on systems that can delete open files it
 * has no name from the beginning.
 */
final class BuildRows implements AutoCloseable {
    private static final VectorTypeSupport VECTORS =
            VectorizationProvider.getInstance().getVectorTypeSupport();
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    private final int rows;
    private final int dimension;
    private final Arena arena = Arena.ofShared();
    private final Path table;
    /** Null if the rows are in memory. */
    private final @Nullable FileChannel file;

    private final MemorySegment memory;

    /**
     * Allocates the memory or the file.
     *
     * @param table path of the file that is built
     * @throws IOException if the temporary file cannot be created
     */
    BuildRows(Path table, int rows, int dimension) throws IOException {
        this.rows = rows;
        this.dimension = dimension;
        this.table = table;
        Path folder = table.toAbsolutePath().getParent();
        this.file = folder != null && Files.isDirectory(folder)
                ? open(folder.resolve("." + table.getFileName() + "-" + UUID.randomUUID() + ".part"))
                : null;
        try {
            this.memory = file != null
                    ? file.map(FileChannel.MapMode.READ_WRITE, 0, bytes(rows), arena)
                    : DomainMemory.allocateUncounted(bytes(rows), arena);
        } catch (Throwable failed) {
            close();
            throw failed;
        }
    }

    private static FileChannel open(Path path) throws IOException {
        Set<StandardOpenOption> options = Set.of(
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE);
        return FileChannel.open(path, options, PrivateFile.attributes(path));
    }

    private long bytes(int count) {
        return (long) count * dimension * Float.BYTES;
    }

    int size() {
        return rows;
    }

    /**
     * Writes consecutive rows, to the file and not to its mapping: if the disk is full, an access to the mapping ends with an error.
     *
     * @param components of whole rows
     */
    void write(int first, float[] components) {
        if (file == null) {
            MemorySegment.copy(components, 0, memory, FLOAT, bytes(first), components.length);
            return;
        }
        ByteBuffer buffer = ByteBuffer.allocate(components.length * Float.BYTES).order(ByteOrder.nativeOrder());
        buffer.asFloatBuffer().put(components);
        long at = bytes(first);
        try {
            while (buffer.hasRemaining()) {
                at += file.write(buffer, at);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(
                    "a copy of the rows of " + table + " cannot be written next to its file: " + failed.getMessage(),
                    failed);
        }
    }

    void read(int row, float[] into) {
        MemorySegment.copy(memory, FLOAT, bytes(row), into, 0, dimension);
    }

    /** The rows as jvector reads them: each view has room for one row, so it belongs to one thread. */
    RandomAccessVectorValues view() {
        return new View();
    }

    @Override
    public void close() throws IOException {
        arena.close();
        if (file != null) {
            file.close();
        }
    }

    private final class View implements RandomAccessVectorValues {
        private final VectorFloat<?> vector = VECTORS.createFloatVector(dimension);
        private final MemorySegment components =
                vector.get() instanceof float[] array ? MemorySegment.ofArray(array) : (MemorySegment) vector.get();

        @Override
        public int size() {
            return rows;
        }

        @Override
        public int dimension() {
            return dimension;
        }

        @Override
        public VectorFloat<?> getVector(int row) {
            MemorySegment.copy(memory, bytes(row), components, 0, bytes(1));
            return vector;
        }

        @Override
        public boolean isValueShared() {
            return true;
        }

        @Override
        public RandomAccessVectorValues copy() {
            return new View();
        }
    }
}
