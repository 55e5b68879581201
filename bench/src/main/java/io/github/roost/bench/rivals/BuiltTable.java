package io.github.roost.bench.rivals;

import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One of Roost's tables.
 *
 * @param build its build time, in this run or in the one that saved it
 */
record BuiltTable<T extends VectorTable>(T table, Duration build) {
    /** Reads a saved table. */
    interface Reader<T> {
        T read(Path file) throws IOException;
    }

    /**
     * Reads a table, or builds it.
     *
     * @param kept file from which the table is read if it exists, and to which it is saved otherwise, with its build time beside it; null for none
     */
    static <T extends VectorTable> BuiltTable<T> of(@Nullable Path kept, Reader<T> reader, Supplier<T> builder)
            throws IOException {
        Path seconds = kept == null ? null : kept.resolveSibling(kept.getFileName() + ".seconds");
        if (kept != null && seconds != null && Files.exists(kept)) {
            Duration build = Duration.ofNanos((long) (1e9 * Double.parseDouble(Files.readString(seconds))));
            return new BuiltTable<>(reader.read(kept), build);
        }
        BuiltTable<T> built = of(builder);
        if (kept != null && seconds != null) {
            Files.writeString(seconds, String.valueOf(built.build.toNanos() / 1e9));
            built.table.save(kept);
        }
        return built;
    }

    /** Builds a table. */
    static <T extends VectorTable> BuiltTable<T> of(Supplier<T> builder) {
        long began = System.nanoTime();
        T table = builder.get();
        return new BuiltTable<>(table, Duration.ofNanos(System.nanoTime() - began));
    }
}
