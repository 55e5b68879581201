package io.github.roost.index.remote;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A provider whose transfers can be counted, held up, failed, and damaged on their way. */
public final class FaultyMemory extends DelegatingMemory {
    /** Gets of more than so many bytes are those of partitions. */
    private static final int LARGE = 4_096;

    final AtomicLong partitionReads = new AtomicLong();
    final AtomicLong doorbells = new AtomicLong();
    /** How many of the next partitions that are read have a byte flipped. */
    final AtomicLong toFlip = new AtomicLong();

    private final AtomicInteger open = new AtomicInteger();
    private volatile boolean counting;
    private volatile boolean failing;
    private volatile @Nullable RuntimeException thrown;
    private volatile boolean holding;
    private final List<Runnable> held = new ArrayList<>();

    public FaultyMemory(RemoteMemory memory) {
        super(memory);
    }

    /** Counts from now on, and not what opening reads. */
    void count() {
        counting = true;
    }

    void fail(boolean value) {
        failing = value;
    }

    void hold() {
        holding = true;
    }

    /** What a read of a partition throws at once; null for nothing. */
    public void throwInGet(@Nullable RuntimeException value) {
        thrown = value;
    }

    /** Regions that have been opened and not closed. */
    int openRegions() {
        return open.get();
    }

    void letGo() {
        List<Runnable> all;
        synchronized (held) {
            holding = false;
            all = new ArrayList<>(held);
            held.clear();
        }
        all.forEach(Runnable::run);
    }

    @Override
    RemoteMemory.Region changed(RemoteMemory.Region region) {
        return new Faulty(region);
    }

    private final class Faulty extends Delegating {
        Faulty(RemoteMemory.Region region) {
            super(region);
            open.incrementAndGet();
        }

        @Override
        public CompletableFuture<Void> get(List<Transfer> transfers) {
            boolean large =
                    transfers.stream().anyMatch(transfer -> transfer.local().byteSize() > LARGE);
            if (counting && large) {
                partitionReads.addAndGet(transfers.size());
                doorbells.incrementAndGet();
            }
            RuntimeException throwing = thrown;
            if (large && throwing != null) {
                throw throwing;
            }
            if (large && failing) {
                return CompletableFuture.failedFuture(new RemoteMemoryException(name(), "is unplugged"));
            }
            CompletableFuture<Void> later = new CompletableFuture<>();
            synchronized (held) {
                if (large && holding) {
                    held.add(() -> {
                        region.get(transfers).join();
                        later.complete(null);
                    });
                    return later;
                }
            }
            CompletableFuture<Void> done = region.get(transfers);
            if (counting && large) {
                for (Transfer transfer : transfers) {
                    if (toFlip.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                        long at = transfer.local().byteSize() / 2;
                        byte value = transfer.local().get(ValueLayout.JAVA_BYTE, at);
                        transfer.local().set(ValueLayout.JAVA_BYTE, at, (byte) (value ^ 4));
                    }
                }
            }
            return done;
        }

        @Override
        public void close() {
            region.close();
            open.decrementAndGet();
        }
    }
}
