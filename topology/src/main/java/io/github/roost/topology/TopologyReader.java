package io.github.roost.topology;

import io.github.roost.topology.hwloc.HwlocException;
import io.github.roost.topology.hwloc.HwlocTopology;
import io.github.roost.topology.hwloc.LinuxScheduler;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import io.github.roost.topology.system.CpuQuota;
import io.github.roost.topology.system.CpuSet;
import io.github.roost.topology.system.Warnings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads a {@link Topology} from the live machine, from an hwloc XML file or from an hwloc synthetic description.
 *
 * <pre>{@code
 * Topology machine = TopologyReader.live().read();
 * Topology genoa = TopologyReader.synthetic("pack:1 l3:12(size=32MiB) core:8 pu:1").level(DomainLevel.L3).read();
 * }</pre>
 *
 * <p>The live machine is narrowed to the CPUs that the process may use: its cgroup's cpuset and the affinity mask it was
 * started with (the process's mask, so a pinned thread reads the same topology), and {@linkplain Topology#withinQuota to its CPU quota}. If hwloc 2.x is missing, the live machine
 * is one flat domain of the process's CPUs, and one WARN names the command that installs it.
 *
 * <p>Immutable and thread-safe: each setting returns a new reader.
 */
public final class TopologyReader {
    private static final long MAX_XML_BYTES = 64L << 20;
    /** hwloc's load time grows with the square of the number of PUs; this number takes a few seconds. */
    private static final long MAX_SYNTHETIC_PUS = 8_192;

    private final Source source;
    private final @Nullable DomainLevel level;
    private final boolean onThisSystem;
    private final boolean withinQuota;

    private TopologyReader(Source source, @Nullable DomainLevel level, boolean onThisSystem, boolean withinQuota) {
        this.source = source;
        this.level = level;
        this.onThisSystem = onThisSystem;
        this.withinQuota = withinQuota;
    }

    /** {@return a reader of the machine that this process runs on} */
    public static TopologyReader live() {
        return new TopologyReader(new Live(), null, false, true);
    }

    /**
     * A reader of the machine that an hwloc XML file describes.
     *
     * @param file an XML file written by {@code lstopo} or {@code hwloc_topology_export_xml}, at most 64 MiB
     * @return the reader
     */
    public static TopologyReader xml(Path file) {
        return new TopologyReader(new Xml(file), null, false, false);
    }

    /**
     * A reader of a machine given as an hwloc synthetic description.
     *
     * @param description in hwloc's synthetic syntax, for example {@code pack:2 l3:4(size=32MiB) core:8 pu:2}; at most 8,192 PUs
     * @return the reader
     */
    public static TopologyReader synthetic(String description) {
        return new TopologyReader(new Synthetic(description), null, false, false);
    }

    /**
     * Forces the level of the domains.
     *
     * @param forced the level; null leaves it to the automatic rule (L3, a shared L2, NUMA, package)
     * @return another reader
     */
    public TopologyReader level(@Nullable DomainLevel forced) {
        return new TopologyReader(source, forced, onThisSystem, withinQuota);
    }

    /**
     * Treats the PU numbers of a file or a description as CPUs of this machine, so that threads can be pinned to
     * simulated domains. Pinning to a PU that this machine lacks is refused; nothing else fails.
     *
     * @param pretend whether to treat them so
     * @return another reader
     */
    public TopologyReader onThisSystem(boolean pretend) {
        return new TopologyReader(source, level, pretend, withinQuota);
    }

    /**
     * Sets whether the live machine is narrowed to the process's CPU quota. Files and descriptions never are.
     *
     * @param narrows default true; false for {@code CpuReservation}, which chooses among all cores
     * @return another reader
     */
    public TopologyReader withinQuota(boolean narrows) {
        return new TopologyReader(source, level, onThisSystem, narrows && source instanceof Live);
    }

    /**
     * Reads the machine.
     *
     * @return the machine, narrowed to what this process may use
     * @throws TopologyException if the description or the file is not valid, the forced level is not in the machine,
     *     or hwloc 2.x is missing and the source is not the live machine
     */
    public Topology read() {
        return within(whole(), withinQuota ? CpuQuota.cpus() : OptionalInt.empty());
    }

    static Topology within(Topology whole, OptionalInt quota) {
        Topology narrowed = quota.isPresent() ? whole.withinQuota(quota.getAsInt()) : whole;
        if (!narrowed.equals(whole)) {
            Warnings.once(
                    "quota",
                    "the CPU quota is " + quota.getAsInt() + ", so of "
                            + whole.cores().count()
                            + " cores only as many are used, and threads are not pinned; for pinned threads give the process a cpuset");
        }
        return narrowed;
    }

    private Topology whole() {
        try (HwlocTopology hwloc = source.load()) {
            return topology(hwloc);
        } catch (HwlocException refused) {
            throw new TopologyException(source.name() + ": " + refused.getMessage(), refused);
        } catch (NativeUnavailableException noHwloc) {
            return withoutHwloc(noHwloc);
        }
    }

    private Topology topology(HwlocTopology hwloc) {
        boolean real = hwloc.isThisSystem();
        BitSet allowed = real ? LinuxScheduler.open().processMask() : hwloc.allowedCpus();
        Machine machine = MachineReading.read(hwloc, allowed);
        if (real && machine.usablePus().size() < allowed.cardinality()) {
            // For example in a container without /sys, where hwloc guesses.
            return flat("hwloc does not know all of the process's CPUs " + CpuSet.text(allowed));
        }
        if (machine.usablePus().isEmpty()) {
            throw new TopologyException(source.name() + ": it has no PU that may be used");
        }
        requireOneCorePerPu(machine);
        DomainLevel chosen = level == null ? DomainGrouping.automaticLevel(machine) : present(level, machine);
        boolean bindable = (real || onThisSystem) && canPin();
        return new Topology(source.name(), chosen, bindable, DomainGrouping.domains(machine, chosen), machine);
    }

    /** An edited file may put a PU into several cores. */
    private void requireOneCorePerPu(Machine machine) {
        BitSet seen = new BitSet();
        for (Machine.PhysicalCore core : machine.cores()) {
            for (int pu : core.pus()) {
                if (seen.get(pu)) {
                    throw new TopologyException(
                            source.name() + ": PU " + pu + " must be in one core, and is in several");
                }
                seen.set(pu);
            }
        }
    }

    private DomainLevel present(DomainLevel forced, Machine machine) {
        if (DomainGrouping.has(machine, forced)) {
            return forced;
        }
        var present = Arrays.stream(DomainLevel.values())
                .filter(candidate -> DomainGrouping.has(machine, candidate))
                .toList();
        throw new TopologyException(
                source.name() + ": the level " + forced + " is not in this machine, which has " + present);
    }

    private Topology withoutHwloc(NativeUnavailableException reason) {
        String install = reason.isDenied() ? "" : "; to install it: " + InstallLine.ofThisPlatform();
        String remedy = reason.getMessage() + install;
        if (!(source instanceof Live)) {
            throw new TopologyException(source.name() + ": it cannot be read: " + remedy, reason);
        }
        return flat(remedy);
    }

    private static Topology flat(String reason) {
        Warnings.once("flat", "the machine's cache domains are unknown, all CPUs form one: " + reason);
        try {
            return flat(LinuxScheduler.open().processMask(), true);
        } catch (NativeUnavailableException noMasks) {
            BitSet counted = new BitSet();
            counted.set(0, Runtime.getRuntime().availableProcessors());
            return flat(counted, false);
        }
    }

    private static Topology flat(BitSet cpus, boolean bindable) {
        List<Core> cores = new ArrayList<>();
        cpus.stream().forEach(cpu -> cores.add(new Core(cores.size(), -1, List.of(cpu))));
        CacheDomain all = new CacheDomain(0, 0, List.of(), 0, cores);
        return new Topology("flat", DomainLevel.PACKAGE, bindable, List.of(all));
    }

    private static boolean canPin() {
        try {
            LinuxScheduler.open();
            return true;
        } catch (NativeUnavailableException notHere) {
            return false;
        }
    }

    private sealed interface Source {
        String name();

        HwlocTopology load();
    }

    private record Live() implements Source {
        @Override
        public String name() {
            return "live";
        }

        @Override
        public HwlocTopology load() {
            LinuxScheduler.open();
            return HwlocTopology.live();
        }
    }

    private record Synthetic(String description) implements Source {
        private static final Pattern ATTRIBUTES = Pattern.compile("\\([^)]*\\)|\\[[^\\]]*\\]");
        private static final Pattern LEVEL = Pattern.compile("(?:[^:]+:)?(\\d{1,9})");
        /** A number of a CPU or a node; those of five digits and more are not of any machine, and take hwloc long. */
        private static final Pattern LARGE_INDEX = Pattern.compile("indexes=[^)\\s]*?(\\d{5,}|0x[0-9a-fA-F]+)");

        @Override
        public String name() {
            return "synthetic:" + description;
        }

        @Override
        public HwlocTopology load() {
            Matcher large = LARGE_INDEX.matcher(description);
            if (large.find()) {
                throw new TopologyException(name() + ": an index must have at most 4 digits, got " + large.group(1));
            }
            long pus = pus();
            if (pus > MAX_SYNTHETIC_PUS) {
                throw new TopologyException(
                        name() + ": it must have at most " + MAX_SYNTHETIC_PUS + " PUs, and has " + pus);
            }
            return HwlocTopology.synthetic(description);
        }

        /** The product of all levels' counts, before hwloc builds them, rounded if it exceeds 2^53. */
        private long pus() {
            long pus = 1;
            for (String level :
                    ATTRIBUTES.matcher(description).replaceAll(" ").strip().split("\\s+", -1)) {
                Matcher count = LEVEL.matcher(level);
                if (!count.matches()) {
                    throw new TopologyException(
                            name() + ": a level must be a type and a count, such as core:8, got " + level);
                }
                pus = (long) ((double) pus * Integer.parseInt(count.group(1)));
            }
            return pus;
        }
    }

    private record Xml(Path file) implements Source {
        @Override
        public String name() {
            return "xml:" + file;
        }

        @Override
        public HwlocTopology load() {
            byte[] content = content();
            XmlSets.require(name(), content);
            return HwlocTopology.xml(content);
        }

        private byte[] content() {
            if (!Files.isRegularFile(file)) {
                throw new TopologyException(
                        name() + (Files.exists(file) ? ": it is not a regular file" : ": there is no such file"));
            }
            try {
                if (Files.size(file) > MAX_XML_BYTES) {
                    throw new TopologyException(name() + ": the file is larger than " + MAX_XML_BYTES + " bytes");
                }
                return Files.readAllBytes(file);
            } catch (IOException unreadable) {
                throw new TopologyException(name() + ": the file cannot be read", unreadable);
            }
        }
    }
}
