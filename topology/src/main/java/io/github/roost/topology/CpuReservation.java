package io.github.roost.topology;

import java.io.IOException;
import java.nio.channels.OverlappingFileLockException;
import java.util.ArrayList;
import java.util.List;
import net.openhft.affinity.lockchecker.FileLockBasedLockChecker;
import net.openhft.affinity.lockchecker.LockChecker;

/**
 * Cores that this process reserves, against other processes that reserve cores the same way. Opt-in.
 *
 * <p>Uses the lock files of OpenHFT's affinity library, one per CPU in the directory for temporary files. Processes that
 * share this directory exclude each other, including programs that use that library. The operating system releases a
 * process's locks when it dies, so the locks of a killed process can be taken. The locks are advisory: a process that does
 * not ask for them is not stopped.
 *
 * <p>Thread-safe.
 */
public final class CpuReservation implements AutoCloseable {
    /** OpenHFT's library has locks for CPUs below this number only; a core without any lockable PU is never free. */
    private static final int LOCKABLE_CPUS = 256;

    private static final int NO_SECOND_CPU = -1;
    private static final long PID = ProcessHandle.current().pid();

    private final Topology topology;
    private final List<Integer> held;
    private final boolean openHftPins;

    private CpuReservation(Topology topology, List<Core> taken) {
        this.topology = topology;
        this.held = new ArrayList<>();
        taken.forEach(core -> held.addAll(locksOf(core)));
        this.openHftPins = DomainCpuLayout.openHftPins();
    }

    /**
     * Takes free cores in the topology's order, each with all of its usable PUs or not at all.
     *
     * @param topology a topology of this machine
     * @param maxCores the maximum number of cores to take, 1 or more
     * @return the reservation, held until it is closed
     * @throws IllegalArgumentException if {@code maxCores} is less than 1, or the topology is not of this machine
     * @throws TopologyException if no core is free, or a lock file cannot be written
     */
    public static CpuReservation of(Topology topology, int maxCores) {
        if (maxCores < 1) {
            throw new IllegalArgumentException("maxCores must be 1 or more, got " + maxCores);
        }
        if (!topology.bindable()) {
            throw new IllegalArgumentException("only cores of this machine can be reserved, got " + topology.source());
        }
        List<Core> taken = new ArrayList<>();
        try {
            for (Core core : topology.cores().toList()) {
                if (taken.size() < maxCores && take(core)) {
                    taken.add(core);
                }
            }
        } catch (TopologyException unwritable) {
            taken.forEach(core -> locksOf(core).forEach(CpuReservation::unlock));
            throw unwritable;
        }
        if (taken.isEmpty()) {
            throw new TopologyException("none of the " + topology.cores().count()
                    + " cores is free, other processes have reserved them (lock files in "
                    + System.getProperty("java.io.tmpdir") + ")");
        }
        return new CpuReservation(narrowed(topology, taken), taken);
    }

    private static Topology narrowed(Topology whole, List<Core> taken) {
        List<CacheDomain> domains = new ArrayList<>();
        int firstCore = 0;
        for (CacheDomain domain : whole.domains()) {
            List<Core> cores = new ArrayList<>();
            for (Core core : domain.cores()) {
                if (taken.contains(core)) {
                    cores.add(new Core(firstCore + cores.size(), core.efficiency(), core.pus()));
                }
            }
            if (!cores.isEmpty()) {
                domains.add(new CacheDomain(
                        domains.size(), domain.cacheBytes(), domain.numaNodes(), domain.packageId(), cores));
                firstCore += cores.size();
            }
        }
        return new Topology(
                whole.source(), whole.level(), whole.bindable(), domains, machineOf(whole.machine(), taken));
    }

    private static Machine machineOf(Machine machine, List<Core> taken) {
        return new Machine(
                machine.packages(),
                machine.numaNodes(),
                machine.caches(),
                machine.cores(),
                taken.stream().flatMap(core -> core.pus().stream()).sorted().toList(),
                machine.offlinePus());
    }

    /** Takes the locks of all lockable PUs of the core, or none. */
    private static boolean take(Core core) {
        List<Integer> taken = new ArrayList<>();
        boolean all = false;
        try {
            all = locksOf(core).stream().allMatch(pu -> lock(pu) && taken.add(pu));
        } finally {
            if (!all) {
                taken.forEach(CpuReservation::unlock);
            }
        }
        return all && !taken.isEmpty();
    }

    private static List<Integer> locksOf(Core core) {
        return core.pus().stream().filter(pu -> pu < LOCKABLE_CPUS).toList();
    }

    private static boolean lock(int pu) {
        try {
            return locks().isLockFree(pu) && locks().obtainLock(pu, NO_SECOND_CPU, "roost " + PID);
        } catch (OverlappingFileLockException heldHere) {
            return false;
        } catch (IOException unwritable) {
            throw new TopologyException("CPU " + pu + " cannot be reserved: " + unwritable.getMessage(), unwritable);
        }
    }

    private static void unlock(int pu) {
        locks().releaseLock(pu);
    }

    private static LockChecker locks() {
        return FileLockBasedLockChecker.getInstance();
    }

    /** {@return the topology narrowed to the cores taken} */
    public Topology topology() {
        return topology;
    }

    /**
     * Whether OpenHFT's own locks would pin threads in this process, or only reserve CPUs ({@code NullAffinity}). Roost
     * pins with its own {@link Pinner} and does not need them.
     *
     * @return whether they would pin
     */
    public boolean openHftPins() {
        return openHftPins;
    }

    /** Releases the cores. */
    @Override
    public synchronized void close() {
        held.forEach(CpuReservation::unlock);
        held.clear();
    }
}
