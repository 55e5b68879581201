package io.github.roost.core;

import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.DomainMemory;
import io.github.roost.topology.MemoryResult;
import io.github.roost.topology.Topology;
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
 * Keeps a table's off-heap memory on the NUMA nodes of its homes, for an index: what there is when the table begins, what
 * the index says is new, and, when a home moves to a domain of another node, what lies on the node before. Memory is
 * migrated, not bound: it stays valid and searched all the while.
 *
 * <p>That is batch work on the workers, one piece of at most 2 MiB at a time, fed by a virtual thread while there is any;
 * neither the caller nor the mapper waits for it. It ends when the table is closed. Memory that is mapped from a file is the
 * page cache's and is left where it is. Where the topology has one NUMA node, or is not of this machine, nothing is done at
 * all, and nobody listens. Thread-safe.
 */
public final class TableMemory {
    private static final Logger LOG = LoggerFactory.getLogger(TableMemory.class);
    /** A huge page. To copy it takes some 200 microseconds, for which a search may have to wait. */
    private static final long PIECE_BYTES = 2L << 20;
    /** How long what there was no room to queue is put off. */
    private static final long RETRY_NANOS = 10_000_000;

    private static final int NOWHERE = -1;
    /** A kernel that refuses one table's memory refuses them all. */
    private static final AtomicBoolean REFUSAL_LOGGED = new AtomicBoolean();

    /** Moves memory to the NUMA node of a domain, as {@link DomainMemory#migrate} does. */
    @FunctionalInterface
    public interface Mover {
        /**
         * Moves memory; called by one worker at a time for each table.
         *
         * @param memory a piece of a table
         * @param home a domain of the node to move to
         * @return whether it was done
         */
        MemoryResult move(MemorySegment memory, CacheDomain home);
    }

    /** Where a table's memory is. */
    @FunctionalInterface
    public interface Segments {
        /**
         * The memory of one mapping id, as it is now; asked in a thread of this object's, beside searches and changes.
         *
         * @param cluster of the id
         * @return its memory; what is on the heap or mapped from a file may be among it
         */
        Stream<MemorySegment> of(int cluster);
    }

    /** New memory of a cluster. */
    private record Fresh(int cluster, MemorySegment memory) {}

    private final Orchestrator orchestrator;
    private final Registration table;
    private final Segments segments;
    private final Mover mover;
    private final boolean isOnSeveralNodes;
    /** Clusters to look after. Guarded by this. */
    private final BitSet due = new BitSet();
    /** New memory to look after. Guarded by this. */
    private final ArrayDeque<Fresh> fresh = new ArrayDeque<>();
    /** The node that each cluster's memory was moved to, or {@link #NOWHERE}; empty on one node. Guarded by this. */
    private final int[] nodes;
    /** Whether a thread looks after what is due. Guarded by this. */
    private boolean isMoving;

    private TableMemory(Orchestrator orchestrator, Registration table, Segments segments, Mover mover) {
        this.orchestrator = orchestrator;
        this.table = table;
        this.segments = segments;
        this.mover = mover;
        this.isOnSeveralNodes = hasSeveralNodes(orchestrator.topology());
        this.nodes = new int[isOnSeveralNodes ? table.clusters() : 0];
        Arrays.fill(nodes, NOWHERE);
    }

    private static boolean hasSeveralNodes(Topology topology) {
        // Numbers of nodes of another machine mean nothing on this one.
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
     * Looks after a table's memory from now until the table is closed.
     *
     * @param orchestrator places the table
     * @param table whose homes count
     * @param segments its memory, referred to until the table is closed
     * @return to be told of new memory
     */
    public static TableMemory keepAtHome(Orchestrator orchestrator, Registration table, Segments segments) {
        return keepAtHome(orchestrator, table, segments, DomainMemory::migrate);
    }

    /**
     * {@link #keepAtHome(Orchestrator, Registration, Segments)} by another mover, for tests and studies.
     *
     * @param orchestrator places the table
     * @param table whose homes count
     * @param segments its memory, referred to until the table is closed
     * @param mover moves pieces of it
     * @return to be told of new memory
     */
    public static TableMemory keepAtHome(
            Orchestrator orchestrator, Registration table, Segments segments, Mover mover) {
        TableMemory memory = new TableMemory(orchestrator, table, segments, mover);
        if (memory.isOnSeveralNodes) {
            table.onHomesMoved((moved, clusters) -> memory.homesMoved(clusters));
            memory.allIsNew();
        }
        return memory;
    }

    /** All memory of the table is another than before. Returns at once. */
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
     * All memory of a mapping id is another than before. Returns at once.
     *
     * @param cluster of the id
     */
    public void isNew(int cluster) {
        if (isOnSeveralNodes) {
            synchronized (this) {
                nodes[cluster] = NOWHERE;
                due.set(cluster);
                begin();
            }
        }
    }

    /**
     * This memory of a mapping id is new, the rest is as before. Returns at once.
     *
     * @param cluster of the id
     * @param memory all of which has been written
     */
    public void isNew(int cluster, MemorySegment memory) {
        if (isOnSeveralNodes) {
            synchronized (this) {
                fresh.add(new Fresh(cluster, memory));
                begin();
            }
        }
    }

    private synchronized void homesMoved(int[] clusters) {
        for (int cluster : clusters) {
            due.set(cluster);
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
                // It stays due until the next time that something is: nobody's change is to fail for this.
            }
        }
    }

    private void moveWhatIsDue() {
        boolean done = false;
        try (Registration work = orchestrator.registerBatchWork(table.name() + " (memory)")) {
            Due next = next();
            while (next != null) {
                moveAll(next, work.id(0));
                next = next();
            }
            done = true;
        } catch (OrchestratorClosedException closed) {
            // Nobody searches any more.
        } catch (RuntimeException | Error failure) {
            LOG.warn("memory of table {} stays where it is until more of it is due to move", table.name(), failure);
        } finally {
            if (!done) {
                stop();
            }
        }
    }

    /** Something to move and where to. */
    private record Due(Stream<MemorySegment> memory, CacheDomain home) {}

    /** What is due, or null when nothing is: then the thread that asked has ended its work, and the next begins anew. */
    private @Nullable Due next() {
        while (true) {
            Fresh one;
            int cluster;
            CacheDomain home;
            boolean isThere;
            synchronized (this) {
                if (!table.isOpen() || (fresh.isEmpty() && due.isEmpty())) {
                    stop();
                    return null;
                }
                one = fresh.poll();
                cluster = one == null ? due.nextSetBit(0) : one.cluster();
                home = home(cluster);
                isThere = home != null && node(home) == nodes[cluster];
                if (one == null) {
                    due.clear(cluster);
                    // Before it is moved: who says meanwhile that there is new memory has the last word.
                    nodes[cluster] = home == null ? NOWHERE : node(home);
                }
            }
            if (home != null && one != null) {
                return new Due(Stream.of(one.memory()), home);
            }
            if (home != null && !isThere) {
                return new Due(segments.of(cluster), home);
            }
        }
    }

    /** A home of a cluster, where there is one on the node of its memory; null where their nodes are not known. */
    private @Nullable CacheDomain home(int cluster) {
        List<CacheDomain> homes = orchestrator.homes(table.id(cluster)).stream()
                .map(orchestrator.topology().domains()::get)
                .filter(home -> node(home) != NOWHERE)
                .toList();
        return homes.stream()
                .filter(home -> node(home) == nodes[cluster])
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
