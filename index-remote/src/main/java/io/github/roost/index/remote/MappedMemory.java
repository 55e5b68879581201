package io.github.roost.index.remote;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Regions that are files, mapped by every process that uses them: in {@code /dev/shm} memory that the processes of one host share, on a
 * DAX or CXL mount memory that lies elsewhere. One-sided: a transfer is a copy by the calling thread. A transfer goes on after the
 * owner has died, so that only the region's heartbeat tells. Thread-safe.
 */
public final class MappedMemory implements RemoteMemory {
    private final Path folder;

    /**
     * The files of a folder.
     *
     * @param folder such as {@code /dev/shm}
     */
    public MappedMemory(Path folder) {
        this.folder = folder;
    }

    @Override
    public String name() {
        return "mapped";
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(true, false);
    }

    @Override
    public RemoteRegion open(String region) throws IOException {
        Path file = folder.resolve(region);
        boolean writable = Files.isWritable(file);
        try (FileChannel channel = writable
                ? FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)
                : FileChannel.open(file, StandardOpenOption.READ)) {
            Arena arena = Arena.ofShared();
            try {
                MemorySegment mapped = channel.map(
                        writable ? FileChannel.MapMode.READ_WRITE : FileChannel.MapMode.READ_ONLY,
                        0,
                        channel.size(),
                        arena);
                return new Mapped(file.toString(), arena, mapped, writable);
            } catch (Throwable failed) {
                arena.close();
                throw failed;
            }
        }
    }

    @Override
    public void close() {
        // Each region has its own mapping.
    }

    /** A mapped file. */
    private static final class Mapped implements RemoteRegion {
        private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final ValueLayout.OfLong LOCAL_WORD =
                ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final VarHandle WORDS = WORD.varHandle();

        private final String name;
        private final Arena arena;
        private final MemorySegment memory;
        private final boolean writable;

        Mapped(String name, Arena arena, MemorySegment memory, boolean writable) {
            this.name = name;
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
                return CompletableFuture.completedFuture(
                        (long) WORDS.compareAndExchange(memory, offset, expected, next));
            } catch (IllegalStateException closed) {
                return CompletableFuture.failedFuture(new RemoteMemoryException(name, "is closed", closed));
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
                // The region was closed, or the file has become shorter than it was mapped.
                return CompletableFuture.failedFuture(new RemoteMemoryException(name, "is closed or cut short", gone));
            }
            return CompletableFuture.completedFuture(null);
        }

        private static boolean isWord(Transfer transfer) {
            return transfer.local().byteSize() == Long.BYTES && transfer.offset() % Long.BYTES == 0;
        }

        private RemoteMemoryException outside(long offset, long length) {
            return new RemoteMemoryException(name, "has " + bytes() + " bytes, asked for " + length + " at " + offset);
        }

        @Override
        public void close() {
            if (memory.scope().isAlive()) {
                arena.close();
            }
        }
    }
}
