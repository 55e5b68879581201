package io.github.roost.index.disk.update;

import io.github.roost.core.Registration;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.Indexing;
import io.github.roost.index.disk.format.BlockMap;
import io.github.roost.index.disk.format.CodeErrors;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.NodesById;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.index.disk.format.TableCopy;
import io.github.roost.index.disk.search.SearchCounts;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.file.HeldFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the updates of a table durable, and passes them to its writer. One thread commits: the updates that arrive while a group is
 * written and synced form the next group. Checkpoints run concurrently, one at a time.
 *
 * <p>There are two logs, used in turn. Checkpoint n begins with log n, empty and synced; then it captures the table after all
 * updates of log n - 1. So checkpoint n with log n, or checkpoint n - 1 with both logs, is the table. A failed checkpoint is
 * retried and includes later updates; an update that is both in a checkpoint and in its log is applied twice, which changes nothing.
 * Log n + 1 overwrites log n - 1; by then checkpoint n is durable.
 *
 * <p>After an unexpected failure no update and no checkpoint is taken: an update that is in the log may be missing in memory, and a checkpoint would
 * lose it. What is pending then fails, so that nothing waits forever.
 */
public final class DiskUpdates {
    private static final Logger LOG = LoggerFactory.getLogger(DiskUpdates.class);
    private static final int MAX_IN_GROUP = 512;
    /** Max pending updates. */
    public static final int MAX_UNDER_WAY = 1_024;
    /**
     * Blocks of the log at which a checkpoint begins however few pages have changed, 16 MiB: bounds the log and the time to apply it when the table
     * is opened.
     */
    public static final int MAX_LOG_BLOCKS = 4_096;

    private sealed interface Command {
        record Change(Update update) implements Command {
            @Override
            public void fail(Throwable cause) {
                update.done().completeExceptionally(cause);
            }
        }

        /** Begins a checkpoint. */
        record Cut(CompletableFuture<Checkpoint> taken) implements Command {
            @Override
            public void fail(Throwable cause) {
                taken.completeExceptionally(cause);
            }
        }

        record Stop() implements Command {
            @Override
            public void fail(Throwable cause) {
                // Nobody waits for it but by the end of the thread.
            }
        }

        /** Fails what waits for it, unless it is done. */
        void fail(Throwable cause);
    }

    private static final int MAX_ROOT_TRIES = 3;
    private static final Command STOP = new Command.Stop();

    private final Indexing indexing;
    private final Registration table;
    private final DiskGraph graph;
    private final BlockFile file;
    private final LogFiles logFiles;

    private final int maxChangedPages;
    private final int maxLogBlocks;
    private final DiskWriter writer;
    private final FreeBlocks free;
    private final ObsoleteBlocks obsolete;
    private final BlockingQueue<Command> commands = new LinkedBlockingQueue<>();
    private final Semaphore room = new Semaphore(MAX_UNDER_WAY);
    private final Answers answers = new Answers();
    private final AtomicReference<@Nullable CompletableFuture<Void>> checkpoint = new AtomicReference<>();
    /** Held while an update is added, so that none is added after the table is closed. */
    private final ReentrantReadWriteLock open = new ReentrantReadWriteLock();

    private boolean closed;
    /** Whether the next checkpoint is the last: no update follows it. */
    private volatile boolean isLast;
    /** Number of changed pages at which the next checkpoint begins: larger after a failed one. */
    private volatile int checkpointAt;
    /** The same for blocks of the log. */
    private volatile int checkpointAtBlocks;
    /** Whether the updates of the logs are queued: a checkpoint before would lose those after it. */
    private volatile boolean isRecovered;

    private volatile Superblock newest;
    /** The codes whose centroids the newest checkpoint has. */
    private volatile ProductCodes written;
    /** The renewal of the codes that is running, and its thread. */
    private final AtomicReference<@Nullable CodeRenewal> renewal = new AtomicReference<>();

    private volatile @Nullable Thread renewing;
    /** Number of added rows at which codes may be learned again after it has failed. */
    private volatile int renewalAt;

    private volatile boolean mayRenew = true;
    private volatile UpdateLog log;
    private volatile @Nullable Throwable failure;
    private final AtomicLong checkpoints = new AtomicLong();
    /** Whether a checkpoint is being written or copied. */
    private volatile boolean writing;
    /** Set when the committing thread takes no more commands. */
    private volatile boolean stopped;

    private @Nullable Thread committer;
    /** Guarded by itself. */
    private final Map<UpdateThread, WriterThread> threads = new EnumMap<>(UpdateThread.class);

    /**
     * Opens the logs of a table and replays them; returns when all their updates are visible to searches.
     *
     * @param held the file, which readers may keep checkpoints of; null if it is in no folder
     */
    public DiskUpdates(
            Indexing indexing,
            Registration table,
            BlockIo io,
            DiskGraph graph,
            NodesById rows,
            SearchCounts counts,
            @Nullable HeldFile held,
            int maxChangedPages,
            int maxLogBlocks)
            throws IOException {
        this.indexing = indexing;
        this.table = table;
        this.graph = graph;
        this.file = graph.file();
        this.newest = graph.root();
        this.written = graph.codes();
        this.maxChangedPages = maxChangedPages;
        this.checkpointAt = maxChangedPages;
        this.maxLogBlocks = maxLogBlocks;
        this.checkpointAtBlocks = maxLogBlocks;
        this.writer = new DiskWriter(graph, rows, io, counts, new WriterOwner());
        this.logFiles = new LogFiles(io, file.path(), newest);
        try {
            this.log = logAfter(newest.sequence(), 0);
            List<Update> updates = recover();
            if (!newest.isWhole()) {
                writeRoot(newest);
            } else if (!updates.isEmpty()) {
                beginLogs();
            }
            BitSet used = graph.map()
                    .used(graph.layout().pages(newest.nodes()), graph.layout().rowBlocks(newest.nodes()));
            used.set(0, graph.layout().firstFreeBlock());
            used.set(newest.mapBlock(), newest.mapBlock() + mapBlocks(newest));
            used.set(
                    newest.centroidBlock(),
                    newest.centroidBlock() + graph.layout().centroidBlocks());
            // A reader may still have a checkpoint from before the newest, whose blocks are known no more.
            BitSet unused = new BitSet();
            unused.set(0, Math.toIntExact(file.blocks()));
            unused.andNot(used);
            used.or(unused);
            this.free = new FreeBlocks(used);
            this.obsolete = new ObsoleteBlocks(held == null ? last -> false : held::isKept);
            obsolete.add(newest.sequence() - 1, unused);
            start();
            redo(updates);
            renewCodesIfStale();
        } catch (Throwable failed) {
            stop();
            throw failed;
        }
    }

    private int mapBlocks(Superblock root) {
        return BlockMap.blocks(
                graph.layout().pages(root.nodes()), graph.layout().rowBlocks(root.nodes()));
    }

    /** The log after a checkpoint of the newest table, at its beginning. */
    private UpdateLog logAfter(long sequence, int before) {
        return new UpdateLog(
                logFiles.of(sequence),
                newest.tableId(),
                sequence,
                graph.layout().dimension(),
                before);
    }

    /** The updates since the newest checkpoint, in order. */
    private List<Update> recover() throws IOException {
        long sequence = newest.sequence();
        for (BlockFile one : logFiles.all()) {
            if (UpdateLog.begin(one, newest.tableId()).generation() > sequence + 1) {
                throw new FileFormatException(
                        file.path(),
                        (long) Superblock.blockOf(sequence + 1) * BlockIo.BLOCK_BYTES,
                        "has a damaged superblock, or is an older copy: its logs follow a later checkpoint than "
                                + sequence);
            }
        }
        BlockFile following = logFiles.of(sequence + 1);
        UpdateLog.Begin begin = UpdateLog.begin(following, newest.tableId());
        boolean isFollowed = begin.generation() == sequence + 1;
        List<Update> updates = new ArrayList<>();
        if (!newest.isWhole()) {
            updates.addAll(isFollowed ? log.replayAtLeastTo(begin.before()) : log.replay());
            if (log.blocks() == 0) {
                throw LogFiles.missing(file.path(), log.file().path(), newest);
            }
            log.rewriteLast();
        }
        if (isFollowed) {
            log = logAfter(sequence + 1, log.end());
            List<Update> later = log.replay();
            if (newest.isWhole() && !later.isEmpty()) {
                requireDamagedSuperblock(sequence + 1);
            }
            updates.addAll(later);
            log.rewriteLast();
        } else {
            UpdateLog.requireNoRest(following, newest.tableId(), sequence + 1);
        }
        return updates;
    }

    /** The superblock of a checkpoint is durable before the first update that follows it: an older one in its place means an older file. */
    private void requireDamagedSuperblock(long sequence) throws IOException {
        int at = Superblock.blockOf(sequence);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            file.read(at, block);
            if (Superblock.read(block) != null) {
                throw new FileFormatException(
                        file.path(),
                        (long) at * BlockIo.BLOCK_BYTES,
                        "is an older copy: the updates in " + log.file().path()
                                + " are of a later state; without its logs it opens as it was");
            }
        }
    }

    /** Before the first update or checkpoint of a table that is whole in its file: from now on its logs are a part of it. */
    private void beginLogs() throws IOException {
        if (!newest.isWhole()) {
            return;
        }
        // Its process may have been killed before it had synced it; the log before it is overwritten now.
        writeRoot(newest);
        if (log.generation() == newest.sequence()) {
            log = beginLog(newest.sequence() + 1, log.end());
        }
        Superblock followed = newest.followed();
        writeRoot(followed);
        newest = followed;
    }

    /** Whether the table is more than its file, or may be: the superblock that says so may be there or not. */
    private boolean areLogsBegun() {
        return !newest.isWhole() || log.generation() != newest.sequence();
    }

    /** Begins a log, over the last but one. */
    private UpdateLog beginLog(long generation, int before) throws IOException {
        UpdateLog next = logAfter(generation, before);
        // Nothing counts that it has held.
        next.file().writeAgain();
        next.append(List.of());
        return next;
    }

    private void redo(List<Update> updates) throws IOException {
        updates.forEach(update -> writer.add(new DiskWriter.Work.Change(update)));
        isRecovered = true;
        for (Update update : updates) {
            try {
                update.done().join();
            } catch (CompletionException failed) {
                throw new IOException(
                        "updates of " + file.path() + " could not be done again: " + failed.getCause(), failed);
            }
        }
    }

    private void start() {
        committer = Thread.ofPlatform()
                .daemon()
                .inheritInheritableThreadLocals(false)
                .name("roost-disk-log-" + table.name())
                .start(this::commitAll);
    }

    /** What the writer asks of its table. */
    private final class WriterOwner implements DiskWriter.Owner {
        @Override
        public void submit() {
            UpdateThread where = writer.thread();
            if (where != UpdateThread.WORKERS) {
                threadOf(where).wake();
                return;
            }
            try {
                var _ = indexing.maintenance(table.id(), writer).whenComplete((done, failed) -> {
                    if (failed != null) {
                        fail(failed);
                        writer.abort(failed);
                    }
                });
            } catch (RuntimeException refused) {
                fail(refused);
                writer.abort(refused);
            }
        }

        @Override
        public void changed() {
            renewCodesIfStale();
            boolean isDue = graph.changed().size() >= checkpointAt || log.blocks() >= checkpointAtBlocks;
            if (isDue && isRecovered && checkpoint.get() == null && failure == null) {
                var _ = beginCheckpoint().whenComplete((done, failed) -> {
                    checkpointAt =
                            failed == null ? maxChangedPages : graph.changed().size() + maxChangedPages / 4;
                    checkpointAtBlocks = failed == null ? maxLogBlocks : log.blocks() + maxLogBlocks / 4;
                    if (failed != null
                            && (graph.changed().size() >= 2 * maxChangedPages || log.blocks() >= 2 * maxLogBlocks)) {
                        // Pages that cannot be written must not fill memory, nor updates the disk.
                        fail(failed);
                    }
                });
            }
        }

        @Override
        public boolean isFull() {
            // So that changed pages do not fill memory while a checkpoint is written or copied, and rows are not
            // linked by codes that say nothing of them.
            return (writing && graph.changed().size() >= 4L * maxChangedPages)
                    || (renewal.get() != null && graph.codes().errors().areUseless(graph.live()));
        }

        @Override
        public void failed(Throwable failure) {
            LOG.error("an update of {} failed; no more are taken", file.path(), failure);
            fail(failure);
        }
    }

    /** Begins to learn the codes again if rows have been added that they hardly stand for. */
    private void renewCodesIfStale() {
        CodeErrors errors = graph.codes().errors();
        if (!isRecovered
                || failure != null
                || !mayRenew
                || errors.added() < renewalAt
                || !errors.areStale(graph.live())
                || renewal.get() != null) {
            return;
        }
        CodeRenewal begun = new CodeRenewal(graph, writer);
        if (renewal.compareAndSet(null, begun)) {
            renewing = Thread.ofPlatform()
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .name("roost-disk-codes-" + table.name())
                    .start(() -> renew(begun));
        }
    }

    private void renew(CodeRenewal begun) {
        try {
            begun.run();
            renewalAt = 0;
        } catch (CancellationException closed) {
            LOG.debug("the codes of {} are learned again when it is opened", file.path());
        } catch (Throwable failed) {
            renewalAt = 2 * graph.codes().errors().added();
            LOG.warn("the codes of {} could not be learned again, its searches find less", file.path(), failed);
        } finally {
            renewal.set(null);
            writer.wake();
        }
    }

    /** Ends the renewal that is running, and begins no other. */
    private void stopRenewal() {
        mayRenew = false;
        CodeRenewal running = renewal.get();
        if (running != null) {
            running.cancel();
        }
        join(renewing);
    }

    /** Created when first used. */
    private WriterThread threadOf(UpdateThread where) {
        synchronized (threads) {
            return threads.computeIfAbsent(
                    where, same -> new WriterThread(table.name(), writer, same == UpdateThread.OWN_IDLE));
        }
    }

    /** Waits for room for an update; a worker runs other tasks meanwhile. */
    private void acquireRoom() {
        if (indexing.calledOnWorker()) {
            while (!room.tryAcquire()) {
                indexing.yieldToSearches();
            }
        } else {
            room.acquireUninterruptibly();
        }
    }

    /** Refuses all further updates. */
    private void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    /**
     * Adds an update; waits while too many are pending.
     *
     * @return completes as the update's own future does, in a thread that may wait for other updates
     * @throws UncheckedIOException if updates can no longer be made durable
     */
    public CompletableFuture<Boolean> add(Update update) {
        Throwable cause = failure;
        if (cause != null) {
            throw new UncheckedIOException(refused(cause));
        }
        open.readLock().lock();
        try {
            if (closed) {
                throw new TableClosedException(table.name());
            }
            acquireRoom();
            CompletableFuture<Boolean> answer = indexing.newFuture();
            var _ = update.done().whenComplete((done, failed) -> {
                answers.give(answer, done, failed);
                // After that, as one who closes the table waits for all room, then for what was given.
                room.release();
            });
            commands.add(new Command.Change(update));
            return answer;
        } finally {
            open.readLock().unlock();
        }
    }

    private IOException refused(Throwable cause) {
        return new IOException("table " + table.name() + " takes no more updates, after a failure: " + cause, cause);
    }

    private void commitAll() {
        // Large enough for all, so that no command is lost when memory is full.
        List<Command> taken = new ArrayList<>(1 + MAX_IN_GROUP);
        List<Update> group = new ArrayList<>(1 + MAX_IN_GROUP);
        boolean isRunning = true;
        while (isRunning) {
            try {
                taken.add(commands.take());
            } catch (InterruptedException interrupted) {
                // Nobody has a reason to interrupt; an accepted update is not dropped.
                continue;
            }
            commands.drainTo(taken, MAX_IN_GROUP);
            isRunning = !taken.contains(STOP);
            try {
                commit(taken, group);
            } catch (Throwable failed) {
                // Such as an OutOfMemoryError. Some of the updates may be in the log.
                fail(failed);
                taken.forEach(command -> command.fail(failed));
            }
            taken.clear();
            group.clear();
        }
        stopped = true;
        refuseCommands();
    }

    /** Fails the checkpoints that came after the end; there are no updates then. */
    private void refuseCommands() {
        for (Command left = commands.poll(); left != null; left = commands.poll()) {
            left.fail(new TableClosedException(table.name()));
        }
    }

    private void commit(List<Command> taken, List<Update> group) {
        for (Command command : taken) {
            switch (command) {
                case Command.Change(Update update) -> group.add(update);
                case Command.Cut(CompletableFuture<Checkpoint> cut) -> {
                    commit(group);
                    cut(cut);
                }
                case Command.Stop _ -> {}
            }
        }
        commit(group);
    }

    private void commit(List<Update> group) {
        if (group.isEmpty()) {
            return;
        }
        try {
            Throwable cause = failure;
            if (cause != null) {
                throw refused(cause);
            }
            beginLogs();
            log.append(group);
            group.forEach(update -> writer.add(new DiskWriter.Work.Change(update)));
        } catch (IOException failed) {
            UncheckedIOException named = new UncheckedIOException(new IOException(
                    "an update of table " + table.name() + " was not written: " + failed.getMessage(), failed));
            group.forEach(update -> update.done().completeExceptionally(named));
            if (log.file().hasFailedSync()) {
                // The next log begins with a checkpoint.
                var _ = beginCheckpoint();
            }
        }
        group.clear();
    }

    /** Begins the next log, unless a failed checkpoint has begun it, and has the writer capture the table after the committed updates. */
    private void cut(CompletableFuture<Checkpoint> taken) {
        try {
            beginLogs();
            Superblock before = newest;
            if (log.generation() == before.sequence()) {
                log = beginLog(before.sequence() + 1, log.end());
            }
            writer.add(new DiskWriter.Work.Run(() -> capture(before, taken), true, taken::completeExceptionally));
        } catch (Throwable failed) {
            taken.completeExceptionally(failed);
        }
    }

    /** Run by the writer. */
    private void capture(Superblock before, CompletableFuture<Checkpoint> taken) {
        Throwable cause = failure;
        if (cause != null) {
            taken.completeExceptionally(refused(cause));
            return;
        }
        BitSet rows = writer.takeChangedRows();
        try {
            Checkpoint begun = new Checkpoint(before, graph, rows, graph.codes() != written, isLast);
            if (taken.complete(begun)) {
                writer.capture(begun);
            } else {
                // Nobody takes it any more.
                begun.close();
                writer.rowsStillChanged(rows);
            }
        } catch (Throwable failed) {
            writer.rowsStillChanged(rows);
            throw failed;
        }
    }

    /**
     * A checkpoint that begins after this call, so that it includes all acknowledged updates.
     *
     * @throws TableClosedException if the table is closed: no thread would take the command
     */
    public CompletableFuture<Void> checkpoint() {
        CompletableFuture<Void> underWay = checkpoint.get();
        CompletableFuture<Void> begun = underWay == null
                ? beginUnlessClosed()
                : underWay.exceptionally(failed -> null).thenCompose(_ -> beginUnlessClosed());
        CompletableFuture<Void> answer = indexing.newFuture();
        var _ = begun.whenComplete((_, failed) -> answers.give(answer, null, failed));
        return answer;
    }

    private CompletableFuture<Void> beginUnlessClosed() {
        open.readLock().lock();
        try {
            if (closed) {
                throw new TableClosedException(table.name());
            }
            return beginCheckpoint();
        } finally {
            open.readLock().unlock();
        }
    }

    /** Begins a checkpoint, or returns what is under way. */
    private CompletableFuture<Void> beginCheckpoint() {
        Throwable cause = failure;
        if (cause != null) {
            return CompletableFuture.failedFuture(refused(cause));
        }
        CompletableFuture<Void> begun = indexing.newFuture();
        while (!checkpoint.compareAndSet(null, begun)) {
            CompletableFuture<Void> underWay = checkpoint.get();
            if (underWay != null) {
                return underWay;
            }
        }
        try {
            Thread.ofPlatform()
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .name("roost-disk-checkpoint-" + table.name())
                    .start(() -> run(begun));
        } catch (Throwable failed) {
            checkpoint.set(null);
            begun.completeExceptionally(failed);
        }
        return begun;
    }

    private void run(CompletableFuture<Void> begun) {
        Throwable failed = null;
        try {
            writeCheckpoint();
        } catch (Throwable cause) {
            failed = cause instanceof CompletionException && cause.getCause() != null ? cause.getCause() : cause;
            LOG.error("a checkpoint of {} failed; its updates are in the log: {}", file.path(), failed.toString());
        }
        checkpoint.set(null);
        if (failed == null) {
            begun.complete(null);
            if (log.file().hasFailedSync()) {
                // It was the log of this checkpoint, so no new one was begun.
                var _ = beginCheckpoint();
            }
        } else {
            begun.completeExceptionally(failed);
        }
    }

    private void writeCheckpoint() throws IOException {
        CompletableFuture<Checkpoint> taken = new CompletableFuture<>();
        commands.add(new Command.Cut(taken));
        if (stopped) {
            refuseCommands();
        }
        Checkpoint next = taken.join();
        writing = true;
        try (next) {
            write(next);
        } finally {
            writing = false;
            writer.wake();
        }
    }

    private void write(Checkpoint next) throws IOException {
        Superblock root;
        try {
            // All blocks of a checkpoint that was not written count no more.
            file.writeAgain();
            obsolete.give(free);
            root = next.write(file, graph, free);
        } catch (Throwable failed) {
            try {
                next.takeBack(free);
                inWriter(() -> {
                    writer.captured();
                    writer.rowsStillChanged(next.changedRows());
                });
            } catch (Throwable worse) {
                // A later checkpoint would lack its rows.
                fail(worse);
                failed.addSuppressed(worse);
            }
            throw failed;
        }
        Superblock before = newest;
        try {
            // All that the checkpoint has is written: the writer need keep nothing more.
            inWriter(writer::captured);
            writeRoot(root);
            while (next.hasUnpublished()) {
                inWriter(() -> next.publishSome(graph));
            }
        } catch (Throwable failed) {
            // The superblock may be durable or not: neither its blocks nor the previous ones may be reused.
            fail(failed);
            throw failed;
        }
        BitSet old = next.publishRest(graph);
        old.set(before.mapBlock(), before.mapBlock() + mapBlocks(before));
        obsolete.add(before.sequence(), old);
        newest = root;
        written = next.codes();
        checkpoints.incrementAndGet();
    }

    /** Writes a superblock, all that it refers to being durable; several times if that fails. */
    private void writeRoot(Superblock root) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            root.write(block);
            for (int tries = 1; ; tries++) {
                try {
                    file.writeAgain();
                    file.write(Superblock.blockOf(root.sequence()), block);
                    file.sync();
                    return;
                } catch (IOException failed) {
                    if (tries == MAX_ROOT_TRIES) {
                        throw failed;
                    }
                }
            }
        }
    }

    private void inWriter(Runnable action) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        writer.addFirst(new DiskWriter.Work.Run(
                () -> {
                    action.run();
                    done.complete(null);
                },
                false,
                done::completeExceptionally));
        done.join();
    }

    public DiskWriter writer() {
        return writer;
    }

    /** Blocks of the file that only earlier checkpoints have. */
    public long obsoleteBlocks() {
        return obsolete.count();
    }

    public long checkpoints() {
        return checkpoints.get();
    }

    private static void await(CompletableFuture<Void> underWay) {
        try {
            underWay.join();
        } catch (CompletionException | CancellationException failed) {
            LOG.debug("the awaited update failed; its caller gets the error", failed);
        }
    }

    /** Copies a new checkpoint; no other checkpoint is written meanwhile. */
    public void save(Path copy) throws IOException {
        try {
            checkpoint().join();
        } catch (CompletionException failed) {
            throw new IOException(
                    "table " + table.name() + " was not saved: no checkpoint was written", failed.getCause());
        }
        CompletableFuture<Void> hold = indexing.newFuture();
        while (!checkpoint.compareAndSet(null, hold)) {
            awaitCheckpoint();
        }
        writing = true;
        try {
            TableCopy.write(file, newest, true, copy);
        } finally {
            writing = false;
            checkpoint.set(null);
            hold.complete(null);
            writer.wake();
        }
    }

    /** Waits for all accepted updates, writes a checkpoint that needs no logs, and closes them; later updates are refused. */
    public void close() {
        open.writeLock().lock();
        try {
            closed = true;
        } finally {
            open.writeLock().unlock();
        }
        stopRenewal();
        for (int i = 0; i < MAX_UNDER_WAY; i++) {
            acquireRoom();
        }
        try {
            inWriter(writer::stopRepairs);
        } catch (CompletionException aborted) {
            LOG.debug("the writer has stopped by itself", aborted);
        }
        isLast = true;
        // If it fails, the last one need not.
        awaitCheckpoint();
        try {
            boolean isDue = areLogsBegun() || !graph.changed().isEmpty();
            while (failure == null && isDue) {
                beginCheckpoint().join();
                // One that was under way may have begun too early to be the last.
                isDue = areLogsBegun();
            }
        } catch (CompletionException failed) {
            LOG.warn("{} is closed without a checkpoint; its log holds the missing updates", file.path());
        }
        if (failure != null) {
            LOG.warn("{} is closed after a failure; its log holds the missing updates", file.path());
        }
        stop();
        answers.await();
    }

    /** Waits for the checkpoint or copy that is under way. */
    private void awaitCheckpoint() {
        CompletableFuture<Void> underWay = checkpoint.get();
        if (underWay != null) {
            await(underWay);
        }
    }

    private static void join(@Nullable Thread thread) {
        boolean interrupted = false;
        while (thread != null && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException stop) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void stop() {
        stopRenewal();
        awaitCheckpoint();
        commands.add(STOP);
        join(committer);
        synchronized (threads) {
            threads.values().forEach(WriterThread::close);
            threads.clear();
        }
        logFiles.close();
    }
}
