package io.github.roost.topology;

import io.github.roost.topology.Machine.Group;
import io.github.roost.topology.ffm.Hwloc;
import io.github.roost.topology.ffm.Hwloc.Kind;
import io.github.roost.topology.ffm.Hwloc.Origin;
import io.github.roost.topology.ffm.HwlocObject;
import io.github.roost.topology.ffm.LinuxScheduler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a machine: this one, one that hwloc saved as XML, or one described by hwloc's synthetic syntax. Immutable.
 *
 * <pre>{@code
 * Topology machine = TopologyReader.live().read();
 * Topology genoa = TopologyReader.synthetic("pack:1 l3:12(size=33554432) core:8 pu:1").read();
 * }</pre>
 *
 * <p>Without hwloc the live machine is read as one flat domain of the CPUs that the process may use, and a warning with
 * the line that installs hwloc is logged once.
 */
public final class TopologyReader {
    private static final Logger LOG = LoggerFactory.getLogger(TopologyReader.class);
    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private final Origin origin;
    private final String description;
    private final @Nullable DomainLevel level;
    private final boolean onThisSystem;

    private TopologyReader(Origin origin, String description, @Nullable DomainLevel level, boolean onThisSystem) {
        this.origin = origin;
        this.description = description;
        this.level = level;
        this.onThisSystem = onThisSystem;
    }

    /** This machine, narrowed to the CPUs that the process may use. */
    public static TopologyReader live() {
        return new TopologyReader(Origin.LIVE, "", null, true);
    }

    /** A machine that hwloc saved ({@code lstopo machine.xml}). */
    public static TopologyReader xml(Path file) {
        return new TopologyReader(Origin.XML, file.toString(), null, false);
    }

    /** A machine in hwloc's synthetic syntax, such as {@code pack:1 l3:12(size=33554432) core:8 pu:1}. */
    public static TopologyReader synthetic(String description) {
        return new TopologyReader(Origin.SYNTHETIC, description, null, false);
    }

    /** What becomes a cache domain; null for the machine's last-level cache, or what comes closest to it. */
    public TopologyReader level(@Nullable DomainLevel value) {
        return new TopologyReader(origin, description, value, onThisSystem);
    }

    /** Whether threads may be pinned to the described PUs as if they were this machine's: pretend domains. */
    public TopologyReader onThisSystem(boolean value) {
        return new TopologyReader(origin, description, level, value);
    }

    /**
     * Reads the machine.
     *
     * @throws TopologyException if the file or description cannot be read, or the machine has no such level
     */
    public Topology read() {
        if (origin == Origin.XML) {
            checkFile();
        }
        Hwloc hwloc;
        try {
            hwloc = Hwloc.open();
        } catch (Hwloc.UnavailableException e) {
            if (origin != Origin.LIVE) {
                throw new TopologyException(
                        e.getMessage() + "; it is needed to read " + source() + ". " + installLine());
            }
            return flat(String.valueOf(e.getMessage()));
        }
        try (Hwloc.Loaded loaded = hwloc.load(origin, description)) {
            return cut(machine(loaded));
        } catch (IllegalArgumentException e) {
            throw new TopologyException(
                    origin == Origin.XML
                            ? "the file must be a machine saved by hwloc as XML, got " + description
                            : "the description must be in hwloc's synthetic syntax, such as"
                                    + " \"pack:1 l3:2 core:4 pu:1\", got \"" + description + "\"");
        }
    }

    private void checkFile() {
        Path file = Path.of(description);
        if (!Files.exists(file)) {
            throw new TopologyException("there is no file " + description);
        }
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            throw new TopologyException(description + " is not a file that can be read");
        }
    }

    private String source() {
        return switch (origin) {
            case LIVE -> "live";
            case XML -> "xml:" + description;
            case SYNTHETIC -> "synthetic:" + description;
        };
    }

    private Machine machine(Hwloc.Loaded loaded) {
        BitSet allowed = new BitSet();
        loaded.objects(Kind.PU).forEach(pu -> allowed.or(pu.cpus()));
        if (origin == Origin.LIVE) {
            processCpus().filter(cpus -> cpus.intersects(allowed)).ifPresent(allowed::and);
        }
        return new Machine(
                allowed,
                groups(loaded.objects(Kind.PACKAGE)),
                groups(loaded.objects(Kind.NUMA_NODE)),
                groups(loaded.objects(Kind.L3)),
                groups(loaded.objects(Kind.L2)),
                groups(loaded.objects(Kind.CORE)),
                loaded.coreEfficiencies());
    }

    private static List<Group> groups(List<HwlocObject> objects) {
        return objects.stream()
                .map(object -> new Group(object.osIndex(), object.cacheBytes(), object.cpus()))
                .toList();
    }

    private Topology cut(Machine machine) {
        DomainCut cut = new DomainCut(machine);
        DomainLevel chosen = level == null ? cut.naturalLevel() : level;
        if (level != null && !cut.levels().contains(level)) {
            throw new TopologyException(
                    "the machine must have the level asked for, one of " + cut.levels() + ", got " + level);
        }
        return new Topology(source(), chosen, onThisSystem, cut.domains(chosen));
    }

    private static Optional<BitSet> processCpus() {
        return LinuxScheduler.instance().map(LinuxScheduler::processAffinity);
    }

    private Topology flat(String reason) {
        if (level != null && level != DomainLevel.PACKAGE) {
            throw new TopologyException(reason + "; it is needed to find level " + level + ". " + installLine());
        }
        if (WARNED.compareAndSet(false, true)) {
            LOG.warn("{}: caches are not known and all CPUs are taken for one cache domain. {}", reason, installLine());
        }
        BitSet cpus = processCpus().orElseGet(() -> {
            BitSet all = new BitSet();
            all.set(0, Runtime.getRuntime().availableProcessors());
            return all;
        });
        Machine machine = new Machine(cpus, List.of(), List.of(), List.of(), List.of(), List.of(), new int[0]);
        boolean bindable = LinuxScheduler.instance().isPresent();
        return new Topology("flat", DomainLevel.PACKAGE, bindable, new DomainCut(machine).domains(DomainLevel.PACKAGE));
    }

    private static String installLine() {
        String os = System.getProperty("os.name", "");
        if (os.startsWith("Mac")) {
            return "To install hwloc: brew install hwloc";
        }
        return os.equals("Linux")
                ? "To install hwloc: apt-get install libhwloc15 (Debian, Ubuntu) or dnf install hwloc-libs (Fedora, RHEL)"
                : "hwloc is not supported on " + os;
    }
}
