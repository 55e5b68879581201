package io.github.roost.index.remote;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A provider that delegates to another one and computes on a virtual clock how long a network card would take for the transfers. The transfers
 * themselves run at the other provider's speed. Thread-safe.
 */
public final class ModelMemory implements RemoteMemory {
    private final RemoteMemory memory;
    private final NetworkModel network;
    /** When the link becomes free, in virtual nanoseconds since the start. */
    private final AtomicLong linkFree = new AtomicLong();

    private final LongAdder doorbells = new LongAdder();
    private final LongAdder pieces = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    /**
     * Adds a virtual clock to a provider.
     *
     * @param memory does the transfers
     * @param network the cost model
     */
    public ModelMemory(RemoteMemory memory, NetworkModel network) {
        this.memory = memory;
        this.network = network;
    }

    /**
     * Totals of transfers and their virtual time.
     *
     * @param doorbells requests to the card
     * @param pieces pieces of these requests, atomic operations included
     * @param bytes in both directions
     * @param linkNanos time that the link was busy, in virtual nanoseconds
     */
    public record Totals(long doorbells, long pieces, long bytes, long linkNanos) {}

    /** {@return the totals since this provider was made} */
    public Totals totals() {
        return new Totals(doorbells.sum(), pieces.sum(), bytes.sum(), linkFree.get());
    }

    /** {@return the cost model} */
    public NetworkModel network() {
        return network;
    }

    @Override
    public String name() {
        return "model of " + memory.name();
    }

    @Override
    public Capabilities capabilities() {
        return memory.capabilities();
    }

    @Override
    public RemoteRegion open(String region) throws IOException {
        return new Modelled(memory.open(region));
    }

    @Override
    public void close() {
        memory.close();
    }

    private void count(int piecesNow, long bytesNow) {
        doorbells.increment();
        pieces.add(piecesNow);
        bytes.add(bytesNow);
        linkFree.addAndGet(network.occupied(piecesNow, bytesNow));
    }

    private void count(List<RemoteRegion.Transfer> transfers) {
        count(
                transfers.size(),
                transfers.stream()
                        .mapToLong(transfer -> transfer.local().byteSize())
                        .sum());
    }

    private final class Modelled implements RemoteRegion {
        private final RemoteRegion region;

        Modelled(RemoteRegion region) {
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
            count(transfers);
            return region.get(transfers);
        }

        @Override
        public CompletableFuture<Void> put(List<Transfer> transfers) {
            count(transfers);
            return region.put(transfers);
        }

        @Override
        public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
            count(1, Long.BYTES);
            return region.compareAndSet(offset, expected, next);
        }

        @Override
        public void close() {
            region.close();
        }
    }
}
