package io.github.roost.index.remote;

import io.github.roost.vector.file.HeldFile;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A provider whose regions are files mapped by every process that uses them: in {@code /dev/shm}, shared memory of one host; on a DAX or CXL
 * mount, memory elsewhere. One-sided: a transfer is a copy by the calling thread. Transfers succeed after the owner has died, so only the
 * region's heartbeat shows its death. A region is writable if its file is. Thread-safe.
 */
final class MappedMemory implements RemoteMemory {
    private final Path folder;

    MappedMemory(Path folder) {
        this.folder = folder;
    }

    @Override
    public RemoteMemory.Region open(String region) throws IOException {
        Path file = folder.resolve(region);
        if (!file.toAbsolutePath()
                .normalize()
                .startsWith(folder.toAbsolutePath().normalize())) {
            throw new RemoteMemoryException(region, "is not in " + folder);
        }
        boolean writable = Files.isWritable(file);
        // A region that is replaced would be two: what one process writes others would not see.
        HeldFile held = HeldFile.toUse(file);
        Arena arena = Arena.ofShared();
        RandomAccessFile opened = null;
        try {
            opened = new RandomAccessFile(file.toFile(), writable ? "rw" : "r");
            MemorySegment mapped = opened.getChannel()
                    .map(
                            writable ? FileChannel.MapMode.READ_WRITE : FileChannel.MapMode.READ_ONLY,
                            0,
                            opened.length(),
                            arena);
            return new Mapped(file.toString(), opened, held, arena, mapped, writable);
        } catch (Throwable failed) {
            arena.close();
            if (opened != null) {
                opened.close();
            }
            held.close();
            throw failed;
        }
    }

    @Override
    public void close() {
        // Each region has its own mapping.
    }

    /** A mapped file. */
    private static final class Mapped implements RemoteMemory.Region {
        private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final ValueLayout.OfLong LOCAL_WORD =
                ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final VarHandle WORDS = WORD.varHandle();

        private final String name;
        /** For its length, which an interrupted thread can read too; an interrupt would close a channel. */
        private final RandomAccessFile file;

        private final HeldFile held;

        private final Arena arena;
        private final MemorySegment memory;
        private final boolean writable;

        Mapped(String name, RandomAccessFile file, HeldFile held, Arena arena, MemorySegment memory, boolean writable) {
            this.name = name;
            this.file = file;
            this.held = held;
            this.arena = arena;
            this.memory = memory;
            this.writable = writable;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long bytes() {
            return memory.byteSize();
        }

        @Override
        public boolean isWritable() {
            return writable;
        }

        @Override
        public CompletableFuture<Void> get(List<Transfer> transfers) {
            return run(transfers, transfer -> {
                MemorySegment local = transfer.local();
                if (isWord(transfer)) {
                    local.set(LOCAL_WORD, 0, (long) WORDS.getAcquire(memory, transfer.offset()));
                } else {
                    MemorySegment.copy(memory, transfer.offset(), local, 0, local.byteSize());
                }
            });
        }

        @Override
        public CompletableFuture<Void> put(List<Transfer> transfers) {
            if (!writable) {
                return CompletableFuture.failedFuture(new RemoteMemoryException(name, "is read-only"));
            }
            return run(transfers, transfer -> {
                MemorySegment local = transfer.local();
                if (isWord(transfer)) {
                    WORDS.setRelease(memory, transfer.offset(), local.get(LOCAL_WORD, 0));
                } else {
                    MemorySegment.copy(local, 0, memory, transfer.offset(), local.byteSize());
                    VarHandle.releaseFence();
                }
            });
        }

        @Override
        public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
            if (!writable) {
                return CompletableFuture.failedFuture(new RemoteMemoryException(name, "is read-only"));
            }
            if (offset % Long.BYTES != 0 || offset < 0 || offset > bytes() - Long.BYTES) {
                return CompletableFuture.failedFuture(outside(offset, Long.BYTES));
            }
            try {
                // Beyond the end of the file a compare-and-set can end the process, whereas a read throws.
                long left = file.length();
                if (left < bytes()) {
                    return CompletableFuture.failedFuture(gone(new EOFException("has " + left + " bytes")));
                }
                return CompletableFuture.completedFuture(
                        (long) WORDS.compareAndExchange(memory, offset, expected, next));
            } catch (IOException | IllegalStateException | InternalError gone) {
                return CompletableFuture.failedFuture(gone(gone));
            }
        }

        private interface Copy {
            void copy(Transfer transfer);
        }

        private CompletableFuture<Void> run(List<Transfer> transfers, Copy copy) {
            for (Transfer transfer : transfers) {
                long length = transfer.local().byteSize();
                if (transfer.offset() < 0 || length > bytes() || transfer.offset() > bytes() - length) {
                    return CompletableFuture.failedFuture(outside(transfer.offset(), length));
                }
            }
            try {
                transfers.forEach(copy::copy);
            } catch (IllegalStateException | InternalError gone) {
                return CompletableFuture.failedFuture(gone(gone));
            }
            return CompletableFuture.completedFuture(null);
        }

        private static boolean isWord(Transfer transfer) {
            return transfer.local().byteSize() == Long.BYTES && transfer.offset() % Long.BYTES == 0;
        }

        /** The region was closed, or the file is shorter than its mapping. */
        private RemoteMemoryException gone(Throwable why) {
            return new RemoteMemoryException(name, "is closed or cut short", why);
        }

        private RemoteMemoryException outside(long offset, long length) {
            return new RemoteMemoryException(name, "has " + bytes() + " bytes, asked for " + length + " at " + offset);
        }

        @Override
        public void close() {
            if (memory.scope().isAlive()) {
                arena.close();
            }
            held.close();
            try {
                file.close();
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }
}
