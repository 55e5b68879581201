package io.github.roost.index.remote;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Regions of another provider that may only be read. */
record ReadOnlyMemory(RemoteMemory memory) implements RemoteMemory {
    @Override
    public String name() {
        return memory.name();
    }

    @Override
    public Capabilities capabilities() {
        return memory.capabilities();
    }

    @Override
    public RemoteMemory.Region open(String region) throws IOException {
        return new ReadOnly(memory.open(region));
    }

    @Override
    public void close() {
        memory.close();
    }

    private record ReadOnly(RemoteMemory.Region region) implements RemoteMemory.Region {
        @Override
        public String name() {
            return region.name();
        }

        @Override
        public long bytes() {
            return region.bytes();
        }

        @Override
        public boolean isWritable() {
            return false;
        }

        @Override
        public CompletableFuture<Void> get(List<Transfer> transfers) {
            return region.get(transfers);
        }

        @Override
        public CompletableFuture<Void> put(List<Transfer> transfers) {
            throw new AssertionError("nothing is written to what may only be read");
        }

        @Override
        public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
            throw new AssertionError("nothing is written to what may only be read");
        }

        @Override
        public void close() {
            region.close();
        }
    }
}
