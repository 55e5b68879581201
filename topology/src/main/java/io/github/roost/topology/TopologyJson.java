package io.github.roost.topology;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A topology as one JSON object, of this stable form:
 *
 * <pre>{@code
 * {"source":"live","level":"L3","domains":[{"id":0,"cacheBytes":33554432,"numa":[0],"package":0,
 *  "cores":[{"id":0,"efficiency":-1,"pus":[0,192]}]}]}
 * }</pre>
 */
public final class TopologyJson {
    private TopologyJson() {}

    /** The object on one line, without a line feed. */
    public static String of(Topology topology) {
        return "{\"source\":%s,\"level\":\"%s\",\"domains\":%s}"
                .formatted(
                        quoted(topology.source()),
                        topology.level(),
                        array(topology.domains().stream()
                                .map(TopologyJson::domain)
                                .toList()));
    }

    private static String domain(CacheDomain domain) {
        return "{\"id\":%d,\"cacheBytes\":%d,\"numa\":%s,\"package\":%d,\"cores\":%s}"
                .formatted(
                        domain.id(),
                        domain.cacheBytes(),
                        array(domain.numaNodes()),
                        domain.packageId(),
                        array(domain.cores().stream().map(TopologyJson::core).toList()));
    }

    private static String core(Core core) {
        return "{\"id\":%d,\"efficiency\":%d,\"pus\":%s}".formatted(core.id(), core.efficiency(), array(core.pus()));
    }

    private static String array(List<?> values) {
        return values.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]"));
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            switch (c) {
                case '"', '\\' -> quoted.append('\\').append(c);
                default -> quoted.append(c < ' ' ? "\\u%04x".formatted((int) c) : String.valueOf(c));
            }
        }
        return quoted.append('"').toString();
    }
}
