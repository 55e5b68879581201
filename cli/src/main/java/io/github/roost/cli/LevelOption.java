package io.github.roost.cli;

import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import picocli.CommandLine.Option;

/** {@code --level} of the benchmarks that need several cache domains. */
final class LevelOption {
    @Option(
            names = "--level",
            paramLabel = "L3|L2|NUMA|PACKAGE",
            description = "Level of the cache domains; default L2, which makes two domains of two cores.")
    private DomainLevel level = DomainLevel.L2;

    /** This machine, with cache domains of that level. */
    Topology machine() {
        return TopologyReader.live().level(level).read();
    }
}
