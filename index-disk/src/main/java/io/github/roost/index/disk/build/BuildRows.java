package io.github.roost.index.disk.build;

import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;
import io.github.roost.index.disk.format.EqualItems;
import io.github.roost.index.disk.format.Units;
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
final class BuildRows implements AutoCloseable, CodeTraining.Sample {
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
    private final int[] hashes;
    /** Whether squares of some components are not floats. */
    private volatile boolean hasHuge;

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
        this.hashes = new int[rows];
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

    @Override
    public int size() {
        return rows;
    }

    /**
     * Writes consecutive rows, to the file and not to its mapping: if the disk is full, an access to the mapping ends with an error.
     *
     * @param components of whole rows
     */
    void write(int first, float[] components) {
        for (int i = 0; i < components.length / dimension; i++) {
            hashes[first + i] = hash(components, i * dimension);
        }
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
        read(row, 0, dimension, into, 0);
    }

    @Override
    public void read(int row, int begin, int length, float[] into, int at) {
        MemorySegment.copy(memory, FLOAT, bytes(row) + (long) begin * Float.BYTES, into, at, length);
    }

    /** The same for both zeros; also looks for huge components. */
    private int hash(float[] components, int from) {
        int hash = 1;
        float largest = 0;
        for (int i = from; i < from + dimension; i++) {
            hash = 31 * hash + Float.floatToRawIntBits(components[i] + 0f);
            largest = Math.max(largest, Math.abs(components[i]));
        }
        if (largest > Units.LARGEST) {
            hasHuge = true;
        }
        return hash;
    }

    /** Calls {@code joined} with each row that equals another one, but one row of them, and one that was met before. */
    void findEqual(EqualItems.Pairs joined) {
        float[] one = new float[dimension];
        float[] two = new float[dimension];
        EqualItems.find(
                rows,
                row -> true,
                row -> hashes[row],
                (row, other) -> {
                    read(row, one);
                    read(other, two);
                    int i = 0;
                    while (i < dimension && one[i] == two[i]) {
                        i++;
                    }
                    return i == dimension;
                },
                joined);
    }

    /** Some of the rows. */
    CodeTraining.Sample only(int[] some) {
        return new CodeTraining.Sample() {
            @Override
            public int size() {
                return some.length;
            }

            @Override
            public void read(int row, int begin, int length, float[] into, int at) {
                BuildRows.this.read(some[row], begin, length, into, at);
            }
        };
    }

    /**
     * The rows as jvector reads them: each view has room for one row, so it belongs to one thread.
     *
     * @param scale factor for all components, a power of two
     */
    RandomAccessVectorValues view(float scale) {
        return new View(scale);
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
        private final float[] scaled = new float[dimension];
        private final float scale;

        View(float scale) {
            this.scale = scale;
        }

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
            if (scale == 1 && !hasHuge) {
                MemorySegment.copy(memory, bytes(row), components, 0, bytes(1));
            } else {
                BuildRows.this.read(row, scaled);
                Units.multiply(scaled, scale);
                MemorySegment.copy(scaled, 0, components, FLOAT, 0, dimension);
            }
            return vector;
        }

        @Override
        public boolean isValueShared() {
            return true;
        }

        @Override
        public RandomAccessVectorValues copy() {
            return new View(scale);
        }
    }
}
