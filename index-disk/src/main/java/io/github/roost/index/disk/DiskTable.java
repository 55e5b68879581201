package io.github.roost.index.disk;

import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableFileException;
import io.github.roost.core.Vectors;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import io.github.roost.core.io.BlockReads;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SubmitOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A table larger than memory: a graph whose nodes, vectors and edges together, lie on checksummed pages of a file, and codes of the
 * vectors in memory (Subramanya et al., "DiskANN", NeurIPS 2019). A search parks while its pages are read, and its worker
 * does something else meanwhile. Cannot be changed once it is built.
 *
 * <pre>{@code
 * DiskTable.builder().build(orchestrator, io, file, ids, vectors);
 * DiskTable table = DiskTable.open(orchestrator, io, "products", file);
 * CompletableFuture<DiskAnswer> answer = table.search(query, DiskSearch.of(10, 64), SubmitOptions.DEFAULT);
 * }</pre>
 *
 * <p>A page that cannot be read, or whose checksum is wrong, is said in the log and in {@link #stats}; searches leave its nodes out
 * and go on without them. Thread-safe.
 */
public final class DiskTable implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskTable.class);
    private static final int MOST_DAMAGED = 1_000;
    /** Users of a file that is closed when there are none. */
    private static final int CLOSED = Integer.MIN_VALUE;

    private final Orchestrator orchestrator;
    private final BlockIo io;
    private final BlockFile file;
    private final Superblock root;
    private final Codes codes;
    private final Registration registration;
    /** Searches that have been accepted and are not over, and whether the table is closed: who makes it CLOSED closes the file. */
    private final AtomicInteger users = new AtomicInteger();

    private final LongAdder searches = new LongAdder();
    private final LongAdder pagesRead = new LongAdder();
    private final LongAdder nodesExpanded = new LongAdder();
    private final LongAdder stalledNanos = new LongAdder();
    private final LongAdder busyNanos = new LongAdder();
    private final ConcurrentSkipListSet<Integer> damaged = new ConcurrentSkipListSet<>();

    private DiskTable(
            Orchestrator orchestrator, BlockIo io, String name, BlockFile file, Superblock root, Codes codes) {
        this.orchestrator = orchestrator;
        this.io = io;
        this.file = file;
        this.root = root;
        this.codes = codes;
        this.registration = orchestrator.register(name);
    }

    /** {@return a builder with every option at its default} */
    public static DiskTableBuilder builder() {
        return new DiskTableBuilder();
    }

    /**
     * Opens a table: reads its codes and ids into memory and checks them. Pages are checked as they are read.
     *
     * @param orchestrator places the table
     * @param io block I/O of that orchestrator, open for as long as the table
     * @param name under which the table shows in reports
     * @param path file that {@link DiskTableBuilder#build} has written; it must not be changed while the table is open
     * @return the table, to be closed
     * @throws IOException if the file cannot be read or holds no whole table; the message says what is wrong where
     */
    public static DiskTable open(Orchestrator orchestrator, BlockIo io, String name, Path path) throws IOException {
        BlockFile file = io.open(path);
        try {
            Superblock root = root(file);
            if (file.blocks() < root.layout().blocks()) {
                throw new TableFileException(
                        path,
                        file.blocks() * BlockIo.BLOCK_BYTES,
                        "ends here, and should have " + root.layout().blocks() + " blocks");
            }
            return new DiskTable(orchestrator, io, name, file, root, new Codes(root.layout(), memory(file, root)));
        } catch (Throwable failed) {
            file.close();
            throw failed;
        }
    }

    private static Superblock root(BlockFile file) throws IOException {
        if (file.blocks() < DiskLayout.SUPERBLOCKS) {
            throw new TableFileException(file.path(), 0, "holds no table: it is too short");
        }
        Superblock newest = null;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            for (int i = 0; i < DiskLayout.SUPERBLOCKS; i++) {
                file.read(i, block);
                Superblock read = Superblock.read(block);
                if (read != null && (newest == null || read.sequence() > newest.sequence())) {
                    newest = read;
                }
            }
        }
        if (newest == null) {
            throw new TableFileException(file.path(), 0, "holds no whole table: neither of its superblocks is one");
        }
        return newest;
    }

    private static MemorySegment memory(BlockFile file, Superblock root) throws IOException {
        DiskLayout layout = root.layout();
        MemorySegment memory = Arena.ofAuto().allocate(layout.memoryBytes(), BlockIo.BLOCK_BYTES);
        file.read(layout.memoryBlock(), memory);
        if (Superblock.checksum(memory) != root.memoryChecksum()) {
            throw new TableFileException(
                    file.path(), layout.memoryBlock() * BlockIo.BLOCK_BYTES, "has damaged codes: wrong checksum");
        }
        return memory;
    }

    /**
     * Submits one search.
     *
     * @param query finite, of the table's dimension
     * @param how to search
     * @param options how to treat it
     * @return completes with what was found; with a {@link io.github.roost.core.task.DeadlineExceededException} where the deadline
     *     passes before, which is looked at whenever pages have come
     * @throws IllegalArgumentException if the query is not as said, or the filter is another table's
     * @throws RejectedSearchException if the overload policy rejects it, or the table or the orchestrator is closed
     */
    public CompletableFuture<DiskAnswer> search(float[] query, DiskSearch how, SubmitOptions options) {
        Vectors.require("query", query, dimension(), metric());
        if (how.filter() != null && !how.filter().isOf(this)) {
            throw new IllegalArgumentException("the filter must be one of table " + name() + ", got another table's");
        }
        enter();
        BlockReads reads = io.reads();
        CompletableFuture<DiskAnswer> answer;
        try {
            DiskWalk walk = new DiskWalk(this, codes, how, Space.of(metric(), query), reads);
            answer = orchestrator.indexing().submitSteps(walk::begin, walk, mappingId(), options);
        } catch (Throwable refused) {
            reads.close();
            leave();
            throw refused;
        }
        // Whatever ends the search frees its reads; those under way keep the file open by themselves.
        var _ = answer.whenComplete((result, failure) -> {
            reads.close();
            leave();
        });
        return answer;
    }

    /**
     * Asks a predicate about all rows, for searches that find only what it accepts.
     *
     * @param allowed asked for the external id of each row, in this call
     * @return for {@link DiskSearch#withFilter}, as often as you like
     */
    public DiskFilter filter(LongPredicate allowed) {
        return new DiskFilter(this, codes, allowed);
    }

    private void enter() {
        int before;
        do {
            before = users.get();
            if (before < 0) {
                throw new IllegalStateException("table " + name() + " is closed");
            }
        } while (!users.compareAndSet(before, before + 1));
    }

    private void leave() {
        if (users.decrementAndGet() == CLOSED) {
            file.close();
        }
    }

    /** Counts a search that has ended by itself. */
    DiskAnswer ended(DiskAnswer answer) {
        searches.increment();
        pagesRead.add(answer.pagesRead());
        nodesExpanded.add(answer.nodesExpanded());
        stalledNanos.add(answer.stalledNanos());
        busyNanos.add(answer.busyNanos());
        return answer;
    }

    /** A search has come upon a page that it cannot use. */
    void damaged(int page, @Nullable IOException failure) {
        if (damaged.size() < MOST_DAMAGED && damaged.add(page)) {
            LOG.error(
                    "page {} of {} (byte {}) is left out of searches: {}",
                    page,
                    file.path(),
                    root.layout().blockOf(page) * BlockIo.BLOCK_BYTES,
                    failure == null ? "its checksum is wrong" : failure.getMessage());
        }
    }

    int entry() {
        return root.entry();
    }

    BlockFile file() {
        return file;
    }

    /** The distance that is reported for a squared distance in the table's space. */
    float reported(float squared) {
        return Space.reported(metric(), squared);
    }

    /** {@return counts since it was opened} */
    public DiskTableStats stats() {
        return new DiskTableStats(
                searches.sum(),
                pagesRead.sum(),
                nodesExpanded.sum(),
                stalledNanos.sum(),
                busyNanos.sum(),
                List.copyOf(damaged),
                root.layout().memoryBytes(),
                root.layout().blocks() * BlockIo.BLOCK_BYTES);
    }

    /** {@return the table's name} */
    public String name() {
        return registration.name();
    }

    /** {@return where searches of this table belong} */
    public MappingId mappingId() {
        return registration.id();
    }

    /** {@return the number of vectors} */
    public int size() {
        return root.layout().nodes();
    }

    /** {@return the dimension of the vectors} */
    public int dimension() {
        return root.layout().dimension();
    }

    /** {@return how distances are measured} */
    public Metric metric() {
        return root.metric();
    }

    /** Unregisters the table; searches already accepted still run, and the file is closed after the last of them. */
    @Override
    public void close() {
        int before;
        do {
            before = users.get();
            if (before < 0) {
                return;
            }
        } while (!users.compareAndSet(before, before | CLOSED));
        registration.close();
        if (before == 0) {
            file.close();
        }
    }
}
