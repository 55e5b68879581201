package io.github.roost.core.placement;

import io.github.roost.core.MappingId;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Registration;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.monitor.Traffic;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.monitor.TrafficWindows;
import io.github.roost.core.remap.DomainLoads;
import io.github.roost.core.remap.FirstHomes;
import io.github.roost.core.remap.RemapRule;
import io.github.roost.core.remap.RemapRule.Remap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns the mapping: gives new ids a home, and at the end of each window publishes the policy's next mapping if that pays.
 *
 * <p>All changes of the mapping are made under this object's lock. Readers take no lock: they read the current epoch, which is published by
 * a volatile store when the epoch and its mapping are complete. Listeners are told of moves outside the lock. Superseded epochs retire in the mapper's own
 * thread, which looks for them in short intervals, since a task that ends tells nobody; and in one that registers a table when no ids are left.
 */
public final class Mapper {
    private static final Logger LOG = LoggerFactory.getLogger(Mapper.class);
    /** Interval of the first looks at a superseded epoch. */
    private static final long SHORTEST_PAUSE_NANOS = 50_000;
    /** Interval of looks at an epoch that does not become empty. */
    private static final long LONGEST_PAUSE_NANOS = 5_000_000;

    private final Registrar registrar;
    private final int domains;
    private final TrafficMonitor monitor;
    private final RemapRule rule;
    private final long cacheBytes;
    private final long shortWindowNanos;
    private final boolean adapts;
    private final TrafficWindows windows;
    private final Thread thread;
    private final Epochs epochs;
    /** Registered tables by first slot; guarded by this. */
    private final TreeMap<Integer, Table> tables = new TreeMap<>();
    /** Free ranges of slots below {@link #slotCount}, first slot to length; guarded by this. */
    private final TreeMap<Integer, Integer> free = new TreeMap<>();
    /** Number of slots ever assigned; guarded by this. */
    private int slotCount;

    /** A registered table. */
    private record Table(Registration registration, AtomicLong lastEpoch, HomeListeners listeners, boolean batchWork) {
        int first() {
            return registration.firstSlot();
        }

        int size() {
            return registration.size();
        }
    }

    /**
     * A published remap.
     *
     * @param before the previous epoch
     * @param after the new mapping
     * @param listening the tables with listeners that were registered at the remap
     * @param event its JFR event
     */
    private record Published(Epoch before, Mapping after, List<Table> listening, RemapEvent event) {}

    private volatile boolean stopped;
    /** Why epochs are waited for in vain; written once. */
    private volatile @Nullable Throwable failure;
    /** Written by the mapper's thread as it ends. */
    private volatile boolean ended;

    private final Object retiring = new Object();
    private volatile long remaps;
    private volatile long movedBytes;

    /** Makes the registration of a table. */
    @FunctionalInterface
    public interface Registrar {
        /**
         * Makes a registration.
         *
         * @param name the table's name in reports
         * @param firstSlot the slot of its first mapping id
         * @param size number of mapping ids, at least 1
         * @param lastEpoch the last epoch whose tasks may use the table's ids; {@link Long#MAX_VALUE} while the table is registered
         * @param homeListeners receives each listener to the table's homes; thread-safe
         * @return the registration
         */
        Registration register(
                String name,
                int firstSlot,
                int size,
                AtomicLong lastEpoch,
                Consumer<Registration.HomeListener> homeListeners);
    }

    public Mapper(
            Registrar registrar,
            int domains,
            int workers,
            TrafficMonitor monitor,
            RemapRule rule,
            long cacheBytes,
            long shortWindowNanos,
            int shortPerLong,
            boolean adapts) {
        this.registrar = registrar;
        this.domains = domains;
        this.monitor = monitor;
        this.rule = rule;
        this.cacheBytes = cacheBytes;
        this.shortWindowNanos = shortWindowNanos;
        this.adapts = adapts;
        this.windows = new TrafficWindows(shortPerLong);
        this.epochs = new Epochs(Mapping.empty(domains), workers);
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("roost-mapper")
                .inheritInheritableThreadLocals(false)
                .unstarted(this::run);
        thread.setContextClassLoader(Mapper.class.getClassLoader());
    }

    public void start() {
        thread.start();
    }

    /** Ends no further window. The thread ends when all tasks have ended and all epochs but the last have retired. */
    public void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    /** As {@link #stop}, and fails the futures that wait for epochs to retire, in the mapper's thread. */
    public void fail(Throwable cause) {
        failure = cause;
        stop();
    }

    /** Whether the calling thread is the mapper's, which ends windows and retires epochs. */
    public boolean isCalledInItsThread() {
        return Thread.currentThread() == thread;
    }

    private void run() {
        long windowEnd = System.nanoTime() + shortWindowNanos;
        long pause = SHORTEST_PAUSE_NANOS;
        while (!stopped || epochs.anyToRetire() || epochs.unfinished() > 0) {
            retire();
            failAwaited();
            long left = stopped ? Long.MAX_VALUE : windowEnd - System.nanoTime();
            if (left <= 0) {
                endWindowInTime();
                windowEnd = System.nanoTime() + shortWindowNanos;
            } else {
                boolean looks = stopped || epochs.anyToRetire();
                LockSupport.parkNanos(this, looks ? Math.min(left, pause) : left);
                pause = looks ? Math.min(2 * pause, LONGEST_PAUSE_NANOS) : SHORTEST_PAUSE_NANOS;
            }
        }
        failAwaited();
        // Of the last epoch, which none follows.
        epochs.failAwaited(new OrchestratorClosedException());
        ended = true;
        retireIfEnded();
    }

    private void failAwaited() {
        Throwable cause = failure;
        if (cause != null) {
            epochs.failAwaited(cause);
        }
    }

    private void endWindowInTime() {
        try {
            endWindow();
        } catch (RuntimeException | Error e) {
            warn(e);
        }
    }

    /** Called when an epoch was superseded: it retires in the mapper's thread, or here if that has ended, since then no task is left. */
    private void superseded() {
        LockSupport.unpark(thread);
        retireIfEnded();
    }

    private void retireIfEnded() {
        if (ended) {
            retire();
        }
    }

    /** Retires the epochs that have no task left, which frees the ids of tables that were closed. */
    private void retire() {
        synchronized (retiring) {
            epochs.retireEmpty();
        }
    }

    private static void warn(Throwable failure) {
        try {
            LOG.warn("the mapping stays as it is: the end of a window failed", failure);
        } catch (RuntimeException | Error noMemoryToLog) {
            // Rethrown, it would end the mapper's thread.
        }
    }

    /** Ends a short window; returns whether a new mapping was published. If so, listeners are told which homes moved. */
    public boolean endWindow() {
        Published published = remap();
        if (published == null) {
            return false;
        }
        superseded();
        for (Table table : published.listening()) {
            table.listeners().tell(table.registration(), published.before().mapping(), published.after());
        }
        published.event().commit();
        return true;
    }

    /** Ends a short window; returns the published remap, or null if the mapping stays. */
    private synchronized @Nullable Published remap() {
        windows.endShortWindow(monitor.totals(slotCount));
        if (!adapts) {
            return null;
        }
        Mapping now = epochs.current().mapping();
        RemapEvent event = new RemapEvent();
        event.begin();
        Remap decided = rule.atWindowEnd(now, windows, cacheBytes).orElse(null);
        return decided == null ? null : publish(now, decided, event);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // under the lock of those that call it; volatile for those that read
    private Published publish(Mapping now, Remap remap, RemapEvent event) {
        long moved = remap.movedBytes(now);
        event.describe(
                now.epoch() + 1, moved, imbalance(now, remap.traffic()), imbalance(remap.mapping(), remap.traffic()));
        List<Table> listening = tables.values().stream()
                .filter(table -> !table.listeners().isEmpty())
                .toList();
        Published published = new Published(epochs.current(), remap.mapping(), listening, event);
        // Published last: if an allocation above failed after it, the superseded epoch would never retire and would
        // block all later ones.
        epochs.publish(remap.mapping());
        event.end();
        remaps++;
        movedBytes += moved;
        return published;
    }

    private static double imbalance(Mapping mapping, Traffic traffic) {
        return DomainLoads.imbalance(DomainLoads.of(mapping, traffic.bytes()));
    }

    public CompletableFuture<Void> advanceEpoch() {
        Epoch before = publishAgain();
        superseded();
        return epochs.awaited(before);
    }

    /** Publishes the present mapping under a new epoch; returns the previous epoch. */
    private synchronized Epoch publishAgain() {
        return epochs.publish(epochs.current().mapping());
    }

    public Epochs epochs() {
        return epochs;
    }

    public Registration register(String name, int size) {
        if (size < 1) {
            throw new IllegalArgumentException("table " + name + " must have at least 1 mapping id, got " + size);
        }
        return register(name, size, false);
    }

    /** Registers ids of batch work, which do not count against the limit for tables. */
    public Registration registerBatchWork(String name, int workers) {
        return register(name, workers, true);
    }

    private Registration register(String name, int size, boolean batchWork) {
        Registration registration;
        if (!batchWork && size > room()) {
            retire();
        }
        synchronized (this) {
            if (!batchWork) {
                requireRoom(name, size);
            }
            int first = takeSlots(size);
            boolean isDone = false;
            try {
                AtomicLong lastEpoch = new AtomicLong(Long.MAX_VALUE);
                HomeListeners listeners = new HomeListeners();
                registration = registrar.register(name, first, size, lastEpoch, listeners::add);
                monitor.ensureCapacity(slotCount);
                Mapping homes = withHomesFor(first, size);
                tables.put(first, new Table(registration, lastEpoch, listeners, batchWork));
                epochs.publish(homes);
                isDone = true;
            } finally {
                if (!isDone) {
                    // There was no memory for it.
                    tables.remove(first);
                    giveSlots(first, size);
                }
            }
        }
        superseded();
        return registration;
    }

    private void requireRoom(String name, int size) {
        int room = room();
        if (size > room) {
            throw new IllegalArgumentException(
                    "all tables together may have %,d mapping ids, %d are registered, got %d more for table %s"
                            .formatted(
                                    MappingId.MAX_PER_ORCHESTRATOR, MappingId.MAX_PER_ORCHESTRATOR - room, size, name));
        }
    }

    /** The ids that tables may still have. Batch work does not count: else a table of the largest number could not be rebuilt. */
    private synchronized int room() {
        return MappingId.MAX_PER_ORCHESTRATOR
                - tables.values().stream()
                        .filter(table -> !table.batchWork())
                        .mapToInt(Table::size)
                        .sum();
    }

    private int takeSlots(int count) {
        for (Map.Entry<Integer, Integer> range : free.entrySet()) {
            if (range.getValue() >= count) {
                return takeFrom(range.getKey(), range.getValue(), count);
            }
        }
        int first = slotCount;
        slotCount += count;
        return first;
    }

    private int takeFrom(int first, int length, int count) {
        free.remove(first);
        if (length > count) {
            free.put(first + count, length - count);
        }
        return first;
    }

    /** Returns the current mapping with first homes for new ids. */
    private Mapping withHomesFor(int first, int size) {
        Mapping now = epochs.current().mapping();
        double[] loads = DomainLoads.of(
                now, windows.longWindow().plus(Traffic.none(now.slots())).bytes());
        int[] ids = new int[domains];
        int[] tablesOf = new int[domains];
        for (Table table : tables.values()) {
            tablesOf[now.home(table.first(), 0)]++;
            for (int slot = table.first(); slot < table.first() + table.size(); slot++) {
                ids[now.home(slot, 0)]++;
            }
        }
        Mapping.Editor editor = now.edit(Math.max(slotCount, now.slots()));
        int[] homes = FirstHomes.assign(loads, ids, tablesOf, size);
        for (int i = 0; i < size; i++) {
            editor.home(first + i, homes[i]);
        }
        return editor.build();
    }

    /**
     * Unregisters a table, once: its ids are refused from now on. Its slots are reused only after all tasks dispatched before, and its maintenance,
     * have finished, so that their traffic is not counted for the next owner. Returns a stage that completes when those tasks have.
     */
    public CompletionStage<Void> unregister(Registration registration) {
        Epoch last;
        synchronized (this) {
            Table table = tables.get(registration.firstSlot());
            if (table == null || table.registration() != registration || !registration.isOpen()) {
                throw new IllegalStateException("table " + registration.name() + " is not registered here");
            }
            table.lastEpoch().set(epochs.current().mapping().epoch());
            last = publishAgain();
        }
        // Maintenance may still report traffic when the epoch has retired.
        var _ = registration.use().unused().thenRun(() -> recycle(registration));
        superseded();
        return last.retired();
    }

    private synchronized void recycle(Registration registration) {
        int begin = registration.firstSlot();
        int size = registration.size();
        tables.remove(begin);
        monitor.clear(begin, begin + size);
        windows.clear(begin, begin + size);
        giveSlots(begin, size);
    }

    private void giveSlots(int begin, int size) {
        int first = begin;
        int length = size;
        Map.Entry<Integer, Integer> before = free.lowerEntry(first);
        if (before != null && before.getKey() + before.getValue() == first) {
            free.remove(before.getKey());
            first = before.getKey();
            length += before.getValue();
        }
        Integer after = free.remove(first + length);
        free.put(first, after == null ? length : length + after);
    }

    /** Returns the name of the table that owns a slot, with the index of the id if the table has several ids. */
    public synchronized String nameOf(int slot) {
        Map.Entry<Integer, Table> entry = tables.floorEntry(slot);
        if (entry == null || slot >= entry.getKey() + entry.getValue().size()) {
            return "slot " + slot;
        }
        return entry.getValue().registration().id(slot - entry.getKey()).toString();
    }

    /** The tables that are registered and not closed. */
    public synchronized List<Registration> tables() {
        return tables.values().stream()
                .map(Table::registration)
                .filter(Registration::isOpen)
                .toList();
    }

    synchronized int slotCount() {
        return slotCount;
    }

    public Traffic totals() {
        return monitor.totals(slotCount());
    }

    public synchronized double longWindowImbalance() {
        Mapping now = epochs.current().mapping();
        return imbalance(now, windows.longWindow().plus(Traffic.none(now.slots())));
    }

    public long remaps() {
        return remaps;
    }

    public long movedBytes() {
        return movedBytes;
    }
}
