package io.github.roost.affinity;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.Machine;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLockInterruptionException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import net.openhft.affinity.lockchecker.FileLockBasedLockChecker;
import net.openhft.affinity.lockchecker.LockChecker;

/**
 * Cores that this process reserves, against other processes that reserve cores the same way.
 *
 * <p>Uses the lock files of OpenHFT's affinity library, one per CPU in the directory for temporary files. Processes that
 * share this directory exclude each other, including programs that use that library. The operating system releases a
 * process's locks when it dies, so the cores of a killed process are free, whichever process has its id later; but a core whose
 * lock file belongs to another user, and may not be written, is never free. The locks are advisory: a process that does not ask
 * for them is not stopped.
 *
 * <p>A core is reserved with all of its PUs, also those that this process may not use: processes with different cpusets share
 * no core either.
 *
 * <p>Thread-safe.
 */
public final class CpuReservation implements AutoCloseable {
    /** OpenHFT's library has locks for CPUs below this number only; a core without any lockable PU is never free. */
    private static final int LOCKABLE_CPUS = 256;

    private static final int NO_SECOND_CPU = -1;
    private static final String OWNER = "roost " + ProcessHandle.current().pid();

    private final Topology topology;
    /** The PUs whose locks this holds; guarded by the class's monitor. */
    private final List<Integer> held = new ArrayList<>();

    private CpuReservation(Topology whole, List<Core> cores) {
        this.topology = narrowed(whole, cores);
        cores.forEach(core -> held.addAll(locksOf(whole.machine(), core)));
    }

    /**
     * Makes a topology the CPU layout of all locks that OpenHFT's library gives from now on, with each cache domain as a socket: its strategy
     * {@code SAME_SOCKET} then means another core of the same last-level cache. Loads JNA.
     *
     * @param topology the machine
     * @return whether that library can pin threads here; if its native part did not load it cannot, and a WARN says so
     */
    public static boolean installLayout(Topology topology) {
        return new DomainCpuLayout(topology).install();
    }

    /**
     * Reserves free cores: of one cache domain if possible, of the domain with the fewest that suffice; else of as few domains as possible.
     *
     * @param topology this machine, read live through hwloc, under a CPU quota with {@code withinQuota(false)}
     * @param cores number of cores, 1 or more
     * @return the reservation, held until it is closed or the process ends
     * @throws IllegalArgumentException if {@code cores} is less than 1, or the topology is not of this machine
     * @throws RefusedException if fewer cores are free, or a lock file cannot be written; then nothing is reserved
     */
    public static CpuReservation of(Topology topology, int cores) {
        if (cores < 1) {
            throw new IllegalArgumentException("the number of cores to reserve must be 1 or more, got " + cores);
        }
        return reserve(topology, free -> {
            int count = free.stream().mapToInt(List::size).sum();
            if (count < cores) {
                throw new RefusedException("cannot reserve " + cores + (cores == 1 ? " core" : " cores") + ": of the "
                        + topology.cores().count() + " that this process may use, " + count
                        + " are free (lock files in "
                        + folder() + ")");
            }
            return ofFewDomains(free, cores);
        });
    }

    /**
     * Reserves all cores of one cache domain that this process may use.
     *
     * @param topology this machine, read live through hwloc, under a CPU quota with {@code withinQuota(false)}
     * @return the reservation, held until it is closed or the process ends
     * @throws IllegalArgumentException if the topology is not of this machine
     * @throws RefusedException if every domain has a reserved core, or a lock file cannot be written; then nothing is reserved
     */
    public static CpuReservation ofDomain(Topology topology) {
        List<CacheDomain> domains = topology.domains();
        return reserve(topology, free -> {
            Optional<CacheDomain> whole = domains.stream()
                    .filter(domain -> free.contains(domain.cores()))
                    .findFirst();
            return whole.orElseThrow(() -> new RefusedException("cannot reserve a cache domain: of the "
                            + domains.size()
                            + " that this process may use, 0 have all of their cores free (lock files in "
                            + folder() + ")"))
                    .cores();
        });
    }

    /**
     * Locks all free cores and unlocks those that are not chosen.
     *
     * @param choice chooses among the free cores of each domain, or throws
     */
    private static CpuReservation reserve(Topology topology, Function<List<List<Core>>, List<Core>> choice) {
        if (!topology.source().equals("live") || !topology.bindable()) {
            throw new IllegalArgumentException(
                    "only cores of this machine, read live through hwloc and not narrowed to a CPU quota, can be reserved, got "
                            + topology.source() + (topology.bindable() ? "" : ", to which threads cannot be pinned"));
        }
        return oneAtATime(() -> {
            List<Core> unused = new ArrayList<>();
            try {
                List<List<Core>> free = new ArrayList<>();
                for (CacheDomain domain : topology.domains()) {
                    List<Core> ofDomain = new ArrayList<>();
                    free.add(ofDomain);
                    for (Core core : domain.cores()) {
                        if (lock(locksOf(topology.machine(), core))) {
                            ofDomain.add(core);
                            unused.add(core);
                        }
                    }
                }
                List<Core> chosen = choice.apply(free);
                unused.removeAll(chosen);
                return new CpuReservation(topology, chosen);
            } finally {
                unused.forEach(core -> locksOf(topology.machine(), core).forEach(locks()::releaseLock));
            }
        });
    }

    /** Chooses cores of the smallest group that has enough; if none has, all of the largest, and the rest likewise. */
    static List<Core> ofFewDomains(List<List<Core>> free, int cores) {
        List<List<Core>> left = new ArrayList<>(free);
        left.sort(Comparator.comparingInt(List::size));
        List<Core> chosen = new ArrayList<>();
        while (chosen.size() < cores) {
            int missing = cores - chosen.size();
            int enough = IntStream.range(0, left.size() - 1)
                    .filter(i -> left.get(i).size() >= missing)
                    .findFirst()
                    .orElse(left.size() - 1);
            List<Core> group = left.remove(enough);
            chosen.addAll(group.subList(0, Math.min(missing, group.size())));
        }
        return chosen;
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

    /** The lockable PUs of the core, also those that this process may not use. */
    static List<Integer> locksOf(Machine machine, Core core) {
        return machine.cores().stream()
                .filter(physical -> !Collections.disjoint(physical.pus(), core.pus()))
                .flatMap(physical -> physical.pus().stream())
                .filter(pu -> pu < LOCKABLE_CPUS)
                .toList();
    }

    /** Locks all of these PUs, or none. */
    private static boolean lock(List<Integer> pus) {
        List<Integer> locked = new ArrayList<>();
        boolean all = false;
        try {
            all = pus.stream().allMatch(pu -> lock(pu) && locked.add(pu));
        } finally {
            if (!all) {
                locked.forEach(locks()::releaseLock);
            }
        }
        return all && !locked.isEmpty();
    }

    private static boolean lock(int pu) {
        try {
            return locks().isLockFree(pu) && locks().obtainLock(pu, NO_SECOND_CPU, OWNER);
        } catch (OverlappingFileLockException heldHere) {
            return false;
        } catch (AccessDeniedException refused) {
            if (Files.exists(Path.of(refused.getFile()))) {
                // The lock file of another user.
                return false;
            }
            throw notWritable(refused);
        } catch (IOException unwritable) {
            throw notWritable(unwritable);
        }
    }

    private static LockChecker locks() {
        return FileLockBasedLockChecker.getInstance();
    }

    private static Path folder() {
        return Path.of(System.getProperty("java.io.tmpdir"));
    }

    /**
     * Runs a step while no other process of Roost takes or releases cores: to take a dead process's lock file, OpenHFT's library
     * deletes it, and another process that opens it meanwhile would lock the deleted file.
     */
    private static synchronized <T> T oneAtATime(Supplier<T> step) {
        // An interrupt ends neither: a thread that is stopped must release its cores.
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                try {
                    return locked(step);
                } catch (FileLockInterruptionException | ClosedByInterruptException again) {
                    interrupted = true;
                }
            }
        } catch (IOException unwritable) {
            throw notWritable(unwritable);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static <T> T locked(Supplier<T> step) throws IOException {
        try (FileChannel channel = open(folder().resolve("roost-cores.lock"))) {
            // Released when the channel closes.
            channel.lock();
            return step.get();
        }
    }

    private static FileChannel open(Path file) throws IOException {
        if (!Files.exists(file)) {
            try {
                Files.createFile(file);
                // Whatever this process's umask is.
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
            } catch (FileAlreadyExistsException madeMeanwhile) {
                // By another process that reserves cores.
            }
        }
        // Without CREATE, which Linux may refuse for another user's file in a folder for all users.
        return FileChannel.open(file, StandardOpenOption.WRITE);
    }

    private static RefusedException notWritable(IOException refusal) {
        return new RefusedException("no core can be reserved: a lock file cannot be written: " + refusal, refusal);
    }

    /** {@return the topology narrowed to the reserved cores} */
    public Topology topology() {
        return topology;
    }

    /**
     * Releases the cores. Nothing may be pinned to them any more. A second call does nothing.
     *
     * @throws RefusedException if the directory of the lock files cannot be written; the cores then stay reserved
     */
    @Override
    public void close() {
        oneAtATime(() -> {
            held.forEach(locks()::releaseLock);
            held.clear();
            return held;
        });
    }

    /** Thrown if cores cannot be reserved; the message is one line with the number of cores that are free, or the file that is refused. */
    public static final class RefusedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }

        RefusedException(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
