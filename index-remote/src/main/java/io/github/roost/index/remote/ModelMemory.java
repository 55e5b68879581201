package io.github.roost.index.remote;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Regions of another provider, with a clock of its own that says how long a network card would have taken for their transfers. The
 * clock is virtual: transfers are as fast as the other provider's. Thread-safe.
 */
public final class ModelMemory implements RemoteMemory {
    private final RemoteMemory memory;
    private final NetworkModel network;
    /** When the link is free again, in virtual nanoseconds since the beginning. */
    private final AtomicLong linkFree = new AtomicLong();

    private final LongAdder doorbells = new LongAdder();
    private final LongAdder pieces = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    /**
     * Puts a clock beside a provider.
     *
     * @param memory does the transfers
     * @param network says how long they would take
     */
    public ModelMemory(RemoteMemory memory, NetworkModel network) {
        this.memory = memory;
        this.network = network;
    }

    /**
     * What was transferred in how much virtual time.
     *
     * @param doorbells requests to the card
     * @param pieces that these asked for, atomic operations included
     * @param bytes in both directions
     * @param linkNanos how long the link was occupied, in virtual nanoseconds
     */
    public record Totals(long doorbells, long pieces, long bytes, long linkNanos) {}

    /** {@return what was transferred so far} */
    public Totals totals() {
        return new Totals(doorbells.sum(), pieces.sum(), bytes.sum(), linkFree.get());
    }

    /** {@return how long transfers take} */
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
