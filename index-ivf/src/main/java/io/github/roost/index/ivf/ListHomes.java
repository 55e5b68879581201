package io.github.roost.index.ivf;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.topology.CacheDomain;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The mapping id of each list. A table that fits in one cache has one home, as a graph has: all its lists have the id of list 0. In a larger table
 * each list has its own. Which of both it is may change as the table grows; a batch queue keeps the id that it was made with, until a rebuild.
 * Thread-safe.
 */
final class ListHomes {
    private final Registration registration;
    private final IvfRows rows;
    private final boolean apart;
    private final int domains;
    /** Of the domain that has the least; 0 if not known. */
    private final long cacheBytes;

    /** @param apart whether each list has a home of its own, however small the table is */
    ListHomes(Orchestrator orchestrator, Registration registration, IvfRows rows, boolean apart) {
        List<CacheDomain> machine = orchestrator.topology().domains();
        this.registration = registration;
        this.rows = rows;
        this.apart = apart;
        this.domains = machine.size();
        this.cacheBytes =
                machine.stream().mapToLong(CacheDomain::cacheBytes).min().orElse(0);
    }

    /** Whether all lists have the same home. */
    boolean areOne() {
        return !apart && (domains == 1 || rows.lists().layout().bytes(rows.size()) <= cacheBytes);
    }

    /** The index of the mapping id of a list; the buffer has that of list 0. */
    int index(int list) {
        return list >= rows.lists().count() || areOne() ? 0 : list;
    }

    MappingId id(int list) {
        return registration.id(index(list));
    }

    /** The domain that is the home of a list; the number of domains if it has several homes. */
    int home(int list) {
        int home = registration.home(index(list));
        return home < 0 ? domains : home;
    }

    int domains() {
        return domains;
    }

    /** The memory of the lists that have a mapping id. */
    Stream<MemorySegment> memory(int index) {
        if (!areOne()) {
            return rows.memory(index);
        }
        return index > 0
                ? Stream.empty()
                : IntStream.range(0, registration.size()).boxed().flatMap(rows::memory);
    }
}
