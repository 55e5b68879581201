package io.github.roost.vector.spi;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Registration;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.TableClosedException;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Topology;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.topology.system.MemoryResult;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a table's off-heap memory on the NUMA nodes of its homes. It migrates the table's initial memory, memory
 * that the index reports as new, and, when a home moves to a domain of another node, the memory of the moved ids. Memory is migrated, not
 * bound: it stays valid and searchable meanwhile.
 *
 * <p>Migration is batch work on the workers, in pieces of at most 2 MiB, one at a time, submitted by a virtual thread; neither the caller
 * nor the mapper waits for it. It ends when the table is closed. Memory mapped from a file belongs to the page cache and is not migrated.
 * If the topology has one NUMA node, or is not that of this machine, this class does nothing and registers no listener. Thread-safe.
 */
public final class TableMemory {
    private static final Logger LOG = LoggerFactory.getLogger(TableMemory.class);
    /** A huge page. Copying it takes about 200 microseconds, which a search may have to wait. */
    private static final long PIECE_BYTES = 2L << 20;
    /** Delay before a piece that was rejected is submitted again. */
    private static final long RETRY_NANOS = 10_000_000;

    private static final int NOWHERE = -1;
    /** One for all tables: a kernel that refuses to migrate one table's memory refuses all. */
    private static final AtomicBoolean REFUSAL_LOGGED = new AtomicBoolean();

    /** Moves memory to the NUMA node of a domain, as {@link DomainMemory#migrate} does. */
    @FunctionalInterface
    public interface Mover {
        /**
         * Moves memory; called by one worker at a time per table.
         *
         * @param memory a piece of the table's memory
         * @param home a domain of the target node
         * @return whether the memory was moved, and why not
         */
        MemoryResult move(MemorySegment memory, CacheDomain home);
    }

    /** Supplies the segments of a table. */
    @FunctionalInterface
    public interface Segments {
        /**
         * Returns the present memory of one mapping id; called in a background thread, concurrently with searches and changes.
         *
         * @param index the index of the mapping id in the table
         * @return its segments; segments on the heap or mapped from a file are ignored
         */
        Stream<MemorySegment> of(int index);
    }

    /** New memory of a mapping id. */
    private record Fresh(int index, MemorySegment memory) {}

    private final Orchestrator orchestrator;
    private final Registration table;
    private final Segments segments;
    private final Mover mover;
    private final boolean isOnSeveralNodes;
    /** Indices of the mapping ids whose memory is to be moved. Guarded by this. */
    private final BitSet due = new BitSet();
    /** New memory to be moved. Guarded by this. */
    private final ArrayDeque<Fresh> fresh = new ArrayDeque<>();
    /** The node that each mapping id's memory was moved to, or {@link #NOWHERE}; empty if there is one node. Guarded by this. */
    private final int[] nodes;
    /** Whether a thread is moving memory. Guarded by this. */
    private boolean isMoving;

    private TableMemory(Orchestrator orchestrator, Registration table, Segments segments, Mover mover) {
        this.orchestrator = orchestrator;
        this.table = table;
        this.segments = segments;
        this.mover = mover;
        this.isOnSeveralNodes = hasSeveralNodes(orchestrator.topology());
        this.nodes = new int[isOnSeveralNodes ? table.size() : 0];
        Arrays.fill(nodes, NOWHERE);
    }

    private static boolean hasSeveralNodes(Topology topology) {
        // Node numbers of another machine mean nothing on this one.
        return topology.bindable()
                && topology.domains().stream()
                                .mapToInt(TableMemory::node)
                                .filter(node -> node != NOWHERE)
                                .distinct()
                                .count()
                        > 1;
    }

    private static int node(CacheDomain domain) {
        return domain.numaNodes().isEmpty() ? NOWHERE : domain.numaNodes().getFirst();
    }

    /**
     * Starts to keep a table's memory at its homes, until the table is closed.
     *
     * @param orchestrator the orchestrator that places the table
     * @param table the table
     * @param segments supplies the table's memory; referenced until the table is closed
     * @param mover moves pieces of the memory, such as {@link DomainMemory#migrate}
     * @return receives reports of new memory
     */
    public static TableMemory keepAtHome(
            Orchestrator orchestrator, Registration table, Segments segments, Mover mover) {
        TableMemory memory = new TableMemory(orchestrator, table, segments, mover);
        if (memory.isOnSeveralNodes) {
            table.onHomesMoved((moved, indices) -> memory.homesMoved(indices));
            memory.allIsNew();
        }
        return memory;
    }

    /** Reports that all memory of the table is new. Returns at once. */
    public void allIsNew() {
        if (isOnSeveralNodes) {
            synchronized (this) {
                Arrays.fill(nodes, NOWHERE);
                due.set(0, nodes.length);
                begin();
            }
        }
    }

    /**
     * Reports that all memory of a mapping id is new. Returns at once.
     *
     * @param index the index of the mapping id in the table
     */
    public void isNew(int index) {
        if (isOnSeveralNodes) {
            synchronized (this) {
                nodes[index] = NOWHERE;
                due.set(index);
                begin();
            }
        }
    }

    /**
     * Reports that one segment of a mapping id is new. Returns at once.
     *
     * @param index the index of the mapping id in the table
     * @param memory the new segment; all of it has been written
     */
    public void isNew(int index, MemorySegment memory) {
        if (isOnSeveralNodes) {
            synchronized (this) {
                fresh.add(new Fresh(index, memory));
                begin();
            }
        }
    }

    private synchronized void homesMoved(int[] indices) {
        for (int index : indices) {
            due.set(index);
        }
        begin();
    }

    /** Called under the lock. */
    private void begin() {
        if (!isMoving) {
            try {
                Thread.ofVirtual().name("roost-memory").start(this::moveWhatIsDue);
                isMoving = true;
            } catch (OutOfMemoryError noThread) {
                // Stays due until more memory is reported or moved: the caller's change must not fail for this.
            }
        }
    }

    private void moveWhatIsDue() {
        boolean done = false;
        try (Registration work = orchestrator.indexing().registerBatchWork(table.name() + " (memory)")) {
            Due next = next();
            while (next != null) {
                moveAll(next, work.id(0));
                next = next();
            }
            done = true;
        } catch (OrchestratorClosedException | TableClosedException closed) {
            // There are no searches any more. The table may be closed at any time, even between next()'s check and its
            // use of an id.
        } catch (RuntimeException | Error failure) {
            LOG.warn("memory of table {} stays where it is until more of it is due to move", table.name(), failure);
        } finally {
            if (!done) {
                stop();
            }
        }
    }

    /** Memory to move and its target. */
    private record Due(Stream<MemorySegment> memory, CacheDomain home) {}

    /** Returns the next memory to move, or null if there is none; then this thread's work is over, and the next report starts a new thread. */
    private @Nullable Due next() {
        while (true) {
            Fresh one;
            int index;
            CacheDomain home;
            boolean isThere;
            synchronized (this) {
                if (!table.isOpen() || (fresh.isEmpty() && due.isEmpty())) {
                    stop();
                    return null;
                }
                one = fresh.poll();
                index = one == null ? due.nextSetBit(0) : one.index();
                home = home(index);
                isThere = home != null && node(home) == nodes[index];
                if (one == null) {
                    due.clear(index);
                    // Set before the move, so that a report of new memory during the move is not overwritten.
                    nodes[index] = home == null ? NOWHERE : node(home);
                }
            }
            if (home != null && one != null) {
                return new Due(Stream.of(one.memory()), home);
            }
            if (home != null && !isThere) {
                return new Due(segments.of(index), home);
            }
        }
    }

    /** Returns a home of a mapping id, preferably one on the node of its memory; null if the nodes of its homes are not known. */
    private @Nullable CacheDomain home(int index) {
        List<CacheDomain> homes = orchestrator.homes(table.id(index)).stream()
                .map(orchestrator.topology().domains()::get)
                .filter(home -> node(home) != NOWHERE)
                .toList();
        return homes.stream()
                .filter(home -> node(home) == nodes[index])
                .findFirst()
                .orElse(homes.isEmpty() ? null : homes.getFirst());
    }

    private void moveAll(Due next, MappingId work) {
        next.memory()
                .filter(memory -> memory.isNative() && !memory.isMapped())
                .forEach(memory -> moveInPieces(memory, next.home(), work));
    }

    private void moveInPieces(MemorySegment memory, CacheDomain home, MappingId work) {
        for (long at = 0; at < memory.byteSize() && table.isOpen(); at += PIECE_BYTES) {
            MemorySegment piece = memory.asSlice(at, Math.min(PIECE_BYTES, memory.byteSize() - at));
            MemoryResult result = onWorker(piece, home, work);
            if (!result.done()) {
                if (!REFUSAL_LOGGED.getAndSet(true)) {
                    LOG.warn("memory of table {} stays where it is: {}", table.name(), result.reason());
                }
                return;
            }
        }
    }

    private MemoryResult onWorker(MemorySegment piece, CacheDomain home, MappingId work) {
        while (true) {
            try {
                return orchestrator
                        .<MemorySegment, MemoryResult>submit(
                                (memory, context) -> mover.move(memory, home), piece, work, SubmitOptions.BATCH)
                        .join();
            } catch (RejectedSearchException full) {
                LockSupport.parkNanos(this, RETRY_NANOS);
            } catch (CompletionException failed) {
                if (failed.getCause() instanceof OrchestratorClosedException closed) {
                    throw closed;
                }
                throw failed;
            }
        }
    }

    private synchronized void stop() {
        isMoving = false;
        if (!table.isOpen()) {
            due.clear();
            fresh.clear();
        }
    }
}
