package io.github.roost.topology.text;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.Topology;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Writes a topology as one JSON object on one line, keys always in this order:
 *
 * <pre>{@code
 * {"source":"live","level":"L3","domains":[
 *   {"id":0,"cacheBytes":33554432,"numa":[0],"package":0,"cores":[
 *     {"id":0,"efficiency":-1,"pus":[0,192]}]}]}
 * }</pre>
 *
 * <p>The values are the components of {@link Topology}, {@link CacheDomain} and {@link Core}: only the CPUs that the
 * process may use. The schema is stable: keys may be added, none is renamed or removed.
 */
public final class TopologyJson {
    private TopologyJson() {}

    /**
     * Writes a topology.
     *
     * @param topology the topology
     * @return one JSON object
     */
    public static String of(Topology topology) {
        return "{\"source\":" + string(topology.source())
                + ",\"level\":" + string(topology.level().name())
                + ",\"domains\":"
                + array(topology.domains().stream().map(TopologyJson::domain).toList())
                + "}";
    }

    private static String domain(CacheDomain domain) {
        return "{\"id\":" + domain.id()
                + ",\"cacheBytes\":" + domain.cacheBytes()
                + ",\"numa\":" + array(domain.numaNodes())
                + ",\"package\":" + domain.packageId()
                + ",\"cores\":"
                + array(domain.cores().stream().map(TopologyJson::core).toList())
                + "}";
    }

    private static String core(Core core) {
        return "{\"id\":" + core.id() + ",\"efficiency\":" + core.efficiency() + ",\"pus\":" + array(core.pus()) + "}";
    }

    private static String array(List<?> elements) {
        return elements.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]"));
    }

    private static String string(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append((char) c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }
}
