package io.github.roost.index.remote;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A provider whose regions are another provider's; subclasses change what their regions do. */
abstract class DelegatingMemory implements RemoteMemory {
    private final RemoteMemory memory;

    DelegatingMemory(RemoteMemory memory) {
        this.memory = memory;
    }

    abstract RemoteMemory.Region changed(RemoteMemory.Region region);

    @Override
    public final RemoteMemory.Region open(String region) throws IOException {
        return changed(memory.open(region));
    }

    @Override
    public final void close() {
        memory.close();
    }

    /** A region that does what another one does. */
    static class Delegating implements RemoteMemory.Region {
        final RemoteMemory.Region region;

        Delegating(RemoteMemory.Region region) {
            this.region = region;
        }

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
            return region.isWritable();
        }

        @Override
        public CompletableFuture<Void> get(List<Transfer> transfers) {
            return region.get(transfers);
        }

        @Override
        public CompletableFuture<Void> put(List<Transfer> transfers) {
            return region.put(transfers);
        }

        @Override
        public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
            return region.compareAndSet(offset, expected, next);
        }

        @Override
        public void close() {
            region.close();
        }
    }
}
