package io.github.roost.topology.text;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.Machine;
import io.github.roost.topology.Topology;
import io.github.roost.topology.system.CpuSet;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;

/**
 * Formats a topology as text for people: packages, their NUMA nodes and domains, the cores of each domain with their PUs, and
 * the PUs that this process may not use.
 */
public final class TopologyText {
    private static final int WIDTH = 100;
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

    private final Topology topology;
    private final StringBuilder text = new StringBuilder();

    private TopologyText(Topology topology) {
        this.topology = topology;
    }

    /**
     * Formats a topology.
     *
     * @param topology the topology
     * @return lines, each ended by a line feed
     */
    public static String of(Topology topology) {
        return new TopologyText(topology).draw();
    }

    private String draw() {
        Machine machine = topology.machine();
        line(topology.source() + ": " + count(topology.domains().size(), "cache domain") + " of level "
                + topology.level() + ", " + count((int) topology.cores().count(), "usable core") + ", "
                + count(machine.usablePus().size(), "usable PU")
                + (topology.bindable() ? "" : "; threads cannot be pinned to it"));
        machine.packages().forEach(this::drawPackage);
        if (!machine.offlinePus().isEmpty()) {
            line("offline: PUs " + CpuSet.text(machine.offlinePus()));
        }
        return text.toString();
    }

    private void drawPackage(Machine.CpuPackage drawn) {
        BitSet pus = CpuSet.of(drawn.pus());
        line("package " + drawn.id());
        topology.machine().numaNodes().stream()
                .filter(node -> CpuSet.of(node.pus()).intersects(pus))
                .forEach(node -> line("  NUMA node " + node.id() + memory(node) + ", PUs " + CpuSet.text(node.pus())));
        topology.domains().stream()
                .filter(domain -> domain.packageId() == drawn.id())
                .forEach(this::drawDomain);
        BitSet unusable = CpuSet.difference(pus, CpuSet.of(topology.machine().usablePus()));
        if (!unusable.isEmpty()) {
            line("  not usable by this process: PUs " + CpuSet.text(unusable));
        }
    }

    private static String memory(Machine.NumaNode node) {
        return node.memoryBytes() > 0 ? ", " + size(node.memoryBytes()) : "";
    }

    private void drawDomain(CacheDomain domain) {
        String cache = domain.cacheBytes() > 0 ? ", shared cache " + size(domain.cacheBytes()) : ", no shared cache";
        String numa = domain.numaNodes().isEmpty() ? "" : ", NUMA " + CpuSet.text(domain.numaNodes());
        line("  domain " + domain.id() + cache + numa + ", "
                + count(domain.cores().size(), "core"));
        wrap(domain.cores().stream().map(TopologyText::core).toList());
    }

    private static String core(Core core) {
        String efficiency = core.efficiency() < 0 ? "" : " class " + core.efficiency();
        return "core " + core.id() + efficiency + " (PU " + CpuSet.text(core.pus()) + ")";
    }

    private void wrap(List<String> cells) {
        int width = cells.stream().mapToInt(String::length).max().orElse(0) + 2;
        int columns = Math.max(1, (WIDTH - 4) / width);
        for (int first = 0; first < cells.size(); first += columns) {
            StringBuilder row = new StringBuilder("   ");
            for (String cell : cells.subList(first, Math.min(cells.size(), first + columns))) {
                row.append(' ').append(cell).repeat(' ', width - cell.length() - 1);
            }
            line(row.toString().stripTrailing());
        }
    }

    private void line(String line) {
        text.append(line).append('\n');
    }

    private static String count(int number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    /** A size in the largest unit of which there is at least 1, with at most one decimal. */
    private static String size(long bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        String number =
                value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.1f", value);
        return number + " " + UNITS[unit];
    }
}
