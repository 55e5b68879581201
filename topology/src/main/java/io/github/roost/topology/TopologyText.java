package io.github.roost.topology;

import java.util.List;
import java.util.stream.Collectors;

/** Draws a topology for a person to read. */
public final class TopologyText {
    private TopologyText() {}

    /** Several lines, each ended by a line feed. */
    public static String of(Topology topology) {
        StringBuilder text = new StringBuilder();
        long cores = topology.cores().count();
        long pus = topology.cores().mapToLong(core -> core.pus().size()).sum();
        text.append("Machine (%s): %s by %s, %s, %s usable%n"
                .formatted(
                        topology.source(),
                        count(topology.domains().size(), "cache domain"),
                        topology.level(),
                        count(cores, "core"),
                        count(pus, "PU")));
        int lastPackage = -1;
        for (CacheDomain domain : topology.domains()) {
            if (domain.packageId() != lastPackage) {
                lastPackage = domain.packageId();
                text.append("  Package ").append(lastPackage).append(System.lineSeparator());
            }
            text.append("    Domain %d  %s%s%s%n"
                    .formatted(
                            domain.id(),
                            domain.cacheBytes() == 0 ? "no shared cache" : size(domain.cacheBytes()),
                            domain.numaNodes().isEmpty() ? "" : ", NUMA " + join(domain.numaNodes()),
                            ", " + count(domain.cores().size(), "core")));
            for (Core core : domain.cores()) {
                text.append("      Core %-3d PU %s%s%n"
                        .formatted(
                                core.id(),
                                join(core.pus()),
                                core.efficiency() < 0 ? "" : "  efficiency " + core.efficiency()));
            }
        }
        return text.toString();
    }

    private static String join(List<Integer> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static String count(long number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }

    private static String size(long bytes) {
        if (bytes % (1 << 20) == 0) {
            return (bytes >> 20) + " MiB";
        }
        return bytes % (1 << 10) == 0 ? (bytes >> 10) + " KiB" : bytes + " bytes";
    }
}
