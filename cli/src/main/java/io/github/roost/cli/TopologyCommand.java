package io.github.roost.cli;

import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.topology.text.TopologyJson;
import io.github.roost.topology.text.TopologyText;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code roost topology}: prints a machine as cache domains, cores and PUs. */
@Command(
        name = "topology",
        description = "Prints the cache domains, cores and PUs of this machine or of a described one.")
final class TopologyCommand implements Callable<Integer> {
    private final Streams streams;

    @ArgGroup
    private @Nullable Source source;

    @Option(
            names = "--level",
            paramLabel = "L3|L2|NUMA|PACKAGE",
            description = "Level of the cache domains; default the last-level cache.")
    private @Nullable DomainLevel level;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    /** At most one of the two. */
    static final class Source {
        @Option(names = "--xml", paramLabel = "F", description = "Read an hwloc XML file.")
        private @Nullable Path xml;

        @Option(
                names = "--synthetic",
                paramLabel = "S",
                description = "Read an hwloc synthetic description, such as \"pack:1 l3:12 core:8 pu:1\".")
        private @Nullable String synthetic;

        TopologyReader reader() {
            if (xml != null) {
                return TopologyReader.xml(xml);
            }
            return synthetic == null ? TopologyReader.live() : TopologyReader.synthetic(synthetic);
        }
    }

    TopologyCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() {
        TopologyReader reader = source == null ? TopologyReader.live() : source.reader();
        if (level != null) {
            reader = reader.level(level);
        }
        Topology topology = reader.read();
        streams.out().println((json ? TopologyJson.of(topology) : TopologyText.of(topology)).stripTrailing());
        return 0;
    }
}
