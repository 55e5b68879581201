package io.github.roost.affinity;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import net.openhft.affinity.Affinity;
import net.openhft.affinity.AffinityLock;
import net.openhft.affinity.CpuLayout;
import net.openhft.affinity.impl.NullAffinity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A topology as a CPU layout of OpenHFT's affinity library, with each cache domain as a socket: the strategy
 * {@code SAME_SOCKET} then means another core of the same last-level cache. Immutable.
 *
 * <p>CPUs that are in no domain form one more socket, after the last domain's.
 */
final class DomainCpuLayout implements CpuLayout {
    private static final Logger LOG = LoggerFactory.getLogger(DomainCpuLayout.class);

    private final List<Place> places = new ArrayList<>();
    private final int sockets;
    private final int coresPerSocket;
    private final int threadsPerCore;

    /**
     * The layout of a machine.
     *
     * @param topology the machine
     */
    public DomainCpuLayout(Topology topology) {
        for (CacheDomain domain : topology.domains()) {
            for (int core = 0; core < domain.cores().size(); core++) {
                place(domain.id(), core, domain.cores().get(core).pus());
            }
        }
        BitSet rest = new BitSet();
        rest.set(0, places.size());
        topology.cores().forEach(core -> core.pus().forEach(rest::clear));
        int core = 0;
        for (int cpu = rest.nextSetBit(0); cpu >= 0; cpu = rest.nextSetBit(cpu + 1)) {
            place(topology.domains().size(), core++, List.of(cpu));
        }
        sockets = topology.domains().size() + (rest.isEmpty() ? 0 : 1);
        coresPerSocket = places.stream().mapToInt(Place::core).max().orElse(0) + 1;
        threadsPerCore = places.stream().mapToInt(Place::thread).max().orElse(0) + 1;
    }

    private void place(int socket, int core, List<Integer> pus) {
        for (int thread = 0; thread < pus.size(); thread++) {
            int pu = pus.get(thread);
            while (places.size() <= pu) {
                places.add(Place.NONE);
            }
            places.set(pu, new Place(socket, core, thread));
        }
    }

    /**
     * Makes this the layout of all locks that OpenHFT's library gives from now on.
     *
     * @return whether that library can pin threads here; if its native part did not load ({@code NullAffinity}) it cannot,
     *     and a WARN says so
     */
    public boolean install() {
        AffinityLock.cpuLayout(this);
        boolean pins = !(Affinity.getAffinityImpl() instanceof NullAffinity);
        if (!pins) {
            LOG.warn("OpenHFT's affinity library could not load its native part (is native access denied?): its locks"
                    + " reserve CPUs, and pin nothing");
        }
        return pins;
    }

    @Override
    public int cpus() {
        return places.size();
    }

    @Override
    public int sockets() {
        return sockets;
    }

    @Override
    public int coresPerSocket() {
        return coresPerSocket;
    }

    @Override
    public int threadsPerCore() {
        return threadsPerCore;
    }

    @Override
    public int socketId(int cpu) {
        return places.get(cpu).socket();
    }

    @Override
    public int coreId(int cpu) {
        return places.get(cpu).core();
    }

    @Override
    public int threadId(int cpu) {
        return places.get(cpu).thread();
    }

    /** Another CPU of the same core, or -1. */
    @Override
    public int pair(int cpu) {
        Place own = places.get(cpu);
        for (int other = 0; other < places.size(); other++) {
            Place place = places.get(other);
            if (other != cpu && place.socket() == own.socket() && place.core() == own.core()) {
                return other;
            }
        }
        return -1;
    }

    private record Place(int socket, int core, int thread) {
        static final Place NONE = new Place(-1, -1, -1);
    }
}
