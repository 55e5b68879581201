package io.github.roost.simulator.options;

import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --level} of the cache domains of a benchmark. */
public final class LevelOption {
    @Option(
            names = "--level",
            paramLabel = "L3|L2|NUMA|PACKAGE",
            description = "Level of the cache domains; default L2, of bench replay L3, of bench stalls the machine's.")
    private @Nullable DomainLevel level;

    /** Creates the option with L2 as its default, which makes two domains of two cores. */
    public LevelOption() {
        this(DomainLevel.L2);
    }

    /** Creates the option with its default; null leaves the level to the machine. */
    public LevelOption(@Nullable DomainLevel level) {
        this.level = level;
    }

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
