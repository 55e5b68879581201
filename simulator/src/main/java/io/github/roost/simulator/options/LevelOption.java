package io.github.roost.simulator.options;

import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import picocli.CommandLine.Option;

/** {@code --level} of the benchmarks that need several cache domains. */
public final class LevelOption {
    @Option(
            names = "--level",
            paramLabel = "L3|L2|NUMA|PACKAGE",
            description = "Level of the cache domains; default L2, which makes two domains of two cores.")
    private DomainLevel level = DomainLevel.L2;

    /** This machine, with cache domains of that level. */
    public Topology machine() {
        return TopologyReader.live().level(level).read();
    }

    /** This machine, if it has several cache domains of that level; otherwise throws. */
    public Topology severalDomains() {
        return requireSeveral(machine());
    }

    static Topology requireSeveral(Topology machine) {
        if (machine.domains().size() < 2) {
            throw new CommandFailure("there must be at least 2 cache domains, got "
                    + machine.domains().size() + " by level " + machine.level());
        }
        return machine;
    }
}
