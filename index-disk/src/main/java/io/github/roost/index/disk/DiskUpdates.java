package io.github.roost.index.disk;

import io.github.roost.core.TableFileException;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import io.github.roost.core.task.TableClosedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
 */
final class DiskUpdates {
    private static final Logger LOG = LoggerFactory.getLogger(DiskUpdates.class);
    private static final int MAX_IN_GROUP = 512;
    /** Max pending updates. */
    static final int MAX_UNDER_WAY = 1_024;

    private sealed interface Command {
        record Change(Update update) implements Command {}

        /** Begins a checkpoint. */
        record Cut(CompletableFuture<Checkpoint> taken) implements Command {}

        record Stop() implements Command {}
    }

    private final DiskTable table;
    private final DiskGraph graph;
    private final BlockFile file;
    private final BlockFile[] logFiles;
    private final int maxChangedPages;
    private final DiskWriter writer;
    private final FreeBlocks free;
    private final BlockingQueue<Command> commands = new LinkedBlockingQueue<>();
    private final Semaphore room = new Semaphore(MAX_UNDER_WAY);
    private final AtomicReference<@Nullable CompletableFuture<Void>> checkpoint = new AtomicReference<>();
    /** Held while an update is added, so that none is added after the table is closed. */
    private final ReentrantReadWriteLock open = new ReentrantReadWriteLock();

    private boolean closed;
    /** Number of changed pages at which the next checkpoint begins: larger after a failed one. */
    private volatile int checkpointAt;

    private volatile Superblock newest;
    private volatile UpdateLog log;
    private volatile @Nullable Throwable failure;
    private final AtomicLong checkpoints = new AtomicLong();
    private volatile boolean writing;
    private @Nullable Thread committer;
    /** Guarded by itself. */
    private final Map<UpdateThread, WriterThread> threads = new EnumMap<>(UpdateThread.class);

    /** Opens the logs of a table and replays them; returns when all their updates are visible to searches. */
    DiskUpdates(DiskTable table, BlockIo io, RowNodes rows, int maxChangedPages) throws IOException {
        this.table = table;
        this.graph = table.graph();
        this.file = graph.file();
        this.newest = graph.root();
        this.maxChangedPages = maxChangedPages;
        this.checkpointAt = maxChangedPages;
        this.writer = new DiskWriter(table, rows, this::submit, this::changed, this::isFull);
        this.logFiles = open(io, file.path());
        try {
            this.log = logAfter(newest.sequence(), 0);
            List<Update> updates = recover();
            BitSet used = graph.map()
                    .used(graph.layout().pages(newest.nodes()), graph.layout().rowBlocks(newest.nodes()));
            used.set(0, graph.layout().firstFreeBlock());
            used.set(newest.mapBlock(), newest.mapBlock() + mapBlocks(newest));
            this.free = new FreeBlocks(used);
            start();
            redo(updates);
        } catch (Throwable failed) {
            stop();
            throw failed;
        }
    }

    private int mapBlocks(Superblock root) {
        return BlockMap.blocks(
                graph.layout().pages(root.nodes()), graph.layout().rowBlocks(root.nodes()));
    }

    private static BlockFile[] open(BlockIo io, Path path) throws IOException {
        BlockFile[] logs = new BlockFile[2];
        try {
            for (int i = 0; i < logs.length; i++) {
                logs[i] = io.openForUpdate(logPath(path, i));
            }
        } catch (Throwable failed) {
            if (logs[0] != null) {
                logs[0].close();
            }
            throw failed;
        }
        Path folder = path.toAbsolutePath().getParent();
        if (folder != null && Files.isDirectory(folder)) {
            // The logs' directory entries must be durable before their content.
            try (FileChannel entries = FileChannel.open(folder, StandardOpenOption.READ)) {
                entries.force(true);
            }
        }
        return logs;
    }

    static Path logPath(Path table, int index) {
        return table.resolveSibling(table.getFileName() + ".log" + index);
    }

    private BlockFile logFile(long generation) {
        return logFiles[(int) (generation % logFiles.length)];
    }

    /** The log after a checkpoint of the newest table, at its beginning. */
    private UpdateLog logAfter(long sequence, int before) {
        return new UpdateLog(
                logFile(sequence), newest.tableId(), sequence, graph.layout().dimension(), before);
    }

    /** The updates since the newest checkpoint, in order. */
    private List<Update> recover() throws IOException {
        long sequence = newest.sequence();
        for (BlockFile one : logFiles) {
            if (UpdateLog.begin(one, newest.tableId()).generation() > sequence + 1) {
                throw new TableFileException(
                        file.path(),
                        (long) Superblock.blockOf(sequence + 1) * BlockIo.BLOCK_BYTES,
                        "has a damaged superblock: its logs follow a later one than " + sequence);
            }
        }
        BlockFile following = logFile(sequence + 1);
        UpdateLog.Begin begin = UpdateLog.begin(following, newest.tableId());
        boolean isFollowed = begin.generation() == sequence + 1;
        List<Update> updates = new ArrayList<>(isFollowed ? log.replayAtLeastTo(begin.before()) : log.replay());
        if (sequence > 1 && log.blocks() == 0) {
            throw new TableFileException(log.file().path(), 0, "holds no log of checkpoint " + sequence);
        }
        if (isFollowed) {
            log = logAfter(sequence + 1, log.end());
            updates.addAll(log.replay());
        } else {
            UpdateLog.requireNoRest(following, newest.tableId(), sequence + 1);
        }
        return updates;
    }

    private void redo(List<Update> updates) throws IOException {
        updates.forEach(update -> writer.add(new DiskWriter.Work.Change(update)));
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
                .name("roost-disk-log-" + table.name())
                .start(this::commitAll);
    }

    private void submit() {
        UpdateThread where = table.updateThread();
        if (where != UpdateThread.WORKERS) {
            threadOf(where).wake();
            return;
        }
        try {
            var _ = table.maintenance(writer).whenComplete((done, failed) -> {
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

    /** Created when first used. */
    private WriterThread threadOf(UpdateThread where) {
        synchronized (threads) {
            return threads.computeIfAbsent(
                    where, same -> new WriterThread(table.name(), writer, same == UpdateThread.OWN_IDLE));
        }
    }

    /** Refuses all further updates. */
    void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    /**
     * Adds an update; waits while too many are pending.
     *
     * @throws UncheckedIOException if updates can no longer be made durable
     */
    void add(Update update) {
        Throwable cause = failure;
        if (cause != null) {
            throw new UncheckedIOException(new IOException(
                    "table " + table.name() + " takes no more updates, after a failure: " + cause.getMessage(), cause));
        }
        open.readLock().lock();
        try {
            if (closed) {
                throw new TableClosedException(table.name());
            }
            table.acquire(room);
            var _ = update.done().whenComplete((done, failed) -> room.release());
            commands.add(new Command.Change(update));
        } finally {
            open.readLock().unlock();
        }
    }

    private void commitAll() {
        List<Command> taken = new ArrayList<>();
        List<Update> group = new ArrayList<>();
        boolean goesOn = true;
        while (goesOn) {
            try {
                taken.add(commands.take());
            } catch (InterruptedException interrupted) {
                // Nobody has a reason to interrupt; an accepted update is not dropped.
                continue;
            }
            commands.drainTo(taken, MAX_IN_GROUP);
            for (Command command : taken) {
                if (command instanceof Command.Change(Update update)) {
                    group.add(update);
                    continue;
                }
                commit(group);
                if (command instanceof Command.Cut(CompletableFuture<Checkpoint> cut)) {
                    cut(cut);
                } else {
                    goesOn = false;
                }
            }
            commit(group);
            taken.clear();
        }
    }

    private void commit(List<Update> group) {
        if (group.isEmpty()) {
            return;
        }
        try {
            log.append(group);
            group.forEach(update -> writer.add(new DiskWriter.Work.Change(update)));
        } catch (IOException failed) {
            UncheckedIOException named = new UncheckedIOException(new IOException(
                    "an update of table " + table.name() + " was not written: " + failed.getMessage(), failed));
            group.forEach(update -> update.done().completeExceptionally(named));
        }
        group.clear();
    }

    /** Begins the next log, unless a failed checkpoint has begun it, and has the writer capture the table after the committed updates. */
    private void cut(CompletableFuture<Checkpoint> taken) {
        Superblock before = newest;
        try {
            if (log.generation() == before.sequence()) {
                UpdateLog next = logAfter(before.sequence() + 1, log.end());
                next.append(List.of());
                log = next;
            }
        } catch (IOException failed) {
            taken.completeExceptionally(failed);
            return;
        }
        writer.add(new DiskWriter.Work.Run(
                () -> taken.complete(new Checkpoint(before, graph, writer.takeChangedRows())),
                true,
                taken::completeExceptionally));
    }

    private void changed() {
        if (graph.changed().size() >= checkpointAt && checkpoint.get() == null && failure == null) {
            var _ = beginCheckpoint().whenComplete((done, failed) -> {
                checkpointAt =
                        failed == null ? maxChangedPages : graph.changed().size() + maxChangedPages / 4;
                if (failed != null && graph.changed().size() >= 2 * maxChangedPages) {
                    // Pages that cannot be written must not fill memory.
                    fail(failed);
                }
            });
        }
    }

    /** Whether updates must wait for a checkpoint that is being written, so that changed pages do not fill memory. */
    private boolean isFull() {
        return writing && graph.changed().size() >= 4L * maxChangedPages;
    }

    /**
     * Begins a checkpoint, or returns the running one.
     *
     * @throws TableClosedException if the table is closed: no thread would take the command
     */
    CompletableFuture<Void> checkpoint() {
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

    /** Called by {@link #checkpoint}, by the writer, whose updates {@link #close} waits for, and by {@link #close}. */
    private CompletableFuture<Void> beginCheckpoint() {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        while (!checkpoint.compareAndSet(null, begun)) {
            CompletableFuture<Void> underWay = checkpoint.get();
            if (underWay != null) {
                return underWay;
            }
        }
        Thread.ofPlatform()
                .daemon()
                .name("roost-disk-checkpoint-" + table.name())
                .start(() -> {
                    Throwable failed = null;
                    try {
                        writeCheckpoint();
                    } catch (Throwable cause) {
                        failed = cause instanceof CompletionException && cause.getCause() != null
                                ? cause.getCause()
                                : cause;
                        LOG.error(
                                "a checkpoint of {} failed; its updates are in the log: {}",
                                file.path(),
                                failed.toString());
                    }
                    checkpoint.set(null);
                    if (failed == null) {
                        begun.complete(null);
                    } else {
                        begun.completeExceptionally(failed);
                    }
                });
        return begun;
    }

    private void writeCheckpoint() throws IOException {
        CompletableFuture<Checkpoint> taken = new CompletableFuture<>();
        commands.add(new Command.Cut(taken));
        Checkpoint next = taken.join();
        writing = true;
        try {
            write(next);
        } finally {
            writing = false;
            writer.wake();
        }
    }

    private void write(Checkpoint next) throws IOException {
        Superblock root;
        try {
            root = next.write(file, graph, free);
        } catch (Throwable failed) {
            next.takeBack(free);
            inWriter(() -> writer.rowsStillChanged(next.changedRows()));
            throw failed;
        }
        try {
            writeRoot(root);
        } catch (Throwable failed) {
            // The superblock may be durable or not: neither its blocks nor the previous ones may be reused.
            fail(failed);
            throw failed;
        }
        Superblock before = newest;
        List<Integer> old = new ArrayList<>();
        inWriter(() -> old.addAll(next.publish(graph)));
        old.forEach(free::give);
        for (int i = 0; i < mapBlocks(before); i++) {
            free.give(before.mapBlock() + i);
        }
        newest = root;
        checkpoints.incrementAndGet();
    }

    private void writeRoot(Superblock root) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            root.write(block);
            file.write(Superblock.blockOf(root.sequence()), block);
            file.sync();
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

    DiskWriter writer() {
        return writer;
    }

    Superblock newest() {
        return newest;
    }

    long checkpoints() {
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
    void save(Path copy) throws IOException {
        try {
            checkpoint().join();
        } catch (CompletionException failed) {
            throw new IOException(
                    "table " + table.name() + " was not saved: no checkpoint was written", failed.getCause());
        }
        CompletableFuture<Void> hold = new CompletableFuture<>();
        while (!checkpoint.compareAndSet(null, hold)) {
            CompletableFuture<Void> underWay = checkpoint.get();
            if (underWay != null) {
                await(underWay);
            }
        }
        try {
            TableCopy.write(file, newest, copy);
        } finally {
            checkpoint.set(null);
            hold.complete(null);
        }
    }

    /** Waits for all accepted updates, writes a checkpoint, and closes the logs; later updates are refused. */
    void close() {
        open.writeLock().lock();
        try {
            closed = true;
        } finally {
            open.writeLock().unlock();
        }
        for (int i = 0; i < MAX_UNDER_WAY; i++) {
            table.acquire(room);
        }
        try {
            inWriter(writer::stopRepairs);
        } catch (CompletionException aborted) {
            LOG.debug("the writer has stopped by itself", aborted);
        }
        if (failure == null && !graph.changed().isEmpty()) {
            try {
                beginCheckpoint().join();
            } catch (CompletionException failed) {
                LOG.warn("{} is closed without a checkpoint; its log holds the missing updates", file.path());
            }
        }
        CompletableFuture<Void> underWay = checkpoint.get();
        if (underWay != null) {
            await(underWay);
        }
        stop();
    }

    private void stop() {
        commands.add(new Command.Stop());
        Thread thread = committer;
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
        synchronized (threads) {
            threads.values().forEach(WriterThread::close);
            threads.clear();
        }
        for (BlockFile one : logFiles) {
            one.close();
        }
    }
}
