package io.github.roost.cli;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.simulator.options.CommandFailure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code roost map}: applies Algorithm 1, or another policy, to a list from standard input. */
@Command(
        name = "map",
        description = {
            "Shows what homes tables would get on a machine with several caches, such as 12 chiplets.",
            "Gives each item of standard input a cache domain, by the paper's Algorithm 1: the hottest remaining item"
                    + " goes to the domain with the least traffic so far, and the coldest remaining item joins it if the"
                    + " domain stays below the mean. Of items with equal traffic the smaller id counts as hotter; of"
                    + " equally loaded domains the smaller id is chosen.",
            "Standard input: one \"id traffic\" per line; traffic is a non-negative integer, an id a number or a name"
                    + " without blanks. Standard output: one \"id domain\" per line, in input order; an item with several"
                    + " homes has several domains, separated by commas."
        })
final class MapCommand implements Callable<Integer> {
    /** Bounds the memory of the policy, which has a matrix of domains times domains. */
    private static final int MAX_DOMAINS_TO_STAY = 4_096;

    private final Streams streams;

    @Option(
            names = "--domains",
            required = true,
            paramLabel = "M",
            description = "Number of cache domains, at least 1.")
    private int domains;

    @Option(
            names = "--policy",
            paramLabel = "NAME",
            defaultValue = "pairing",
            description = {
                "Policy: pairing (the default), Algorithm 1; longest-first, each item to the least loaded domain,"
                        + " without pairs; staying, the default of an orchestrator, which splits items that are hotter"
                        + " than a domain's share, and starts here with items spread evenly in the order of their ids."
            })
    private String policy = "pairing";

    MapCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws IOException {
        if (domains < 1) {
            throw new CommandFailure("--domains must be at least 1, got " + domains);
        }
        TrafficList items = TrafficList.parse(streams.in().readAllBytes());
        int[] byId = items.ordinalsById();
        long[] traffic = new long[byId.length];
        for (int rank = 0; rank < byId.length; rank++) {
            traffic[rank] = items.traffic(byId[rank]);
        }
        Mapping mapping = map(traffic);
        int[] rankOf = new int[byId.length];
        for (int rank = 0; rank < byId.length; rank++) {
            rankOf[byId[rank]] = rank;
        }
        print(items, rankOf, mapping);
        return 0;
    }

    private Mapping map(long[] traffic) {
        MappingPolicy rule = switch (policy) {
            case "pairing" -> MappingPolicy.hotColdPairing();
            case "longest-first" -> MappingPolicy.longestFirst();
            case "staying" -> {
                if (domains > MAX_DOMAINS_TO_STAY) {
                    throw new CommandFailure("--domains must be at most " + MAX_DOMAINS_TO_STAY
                            + " with --policy staying, got " + domains);
                }
                yield MappingPolicy.stayingPairing();
            }
            default ->
                throw new CommandFailure("--policy must be pairing, longest-first or staying, got \"" + policy + "\"");
        };
        int[] even = new int[traffic.length];
        Arrays.setAll(even, rank -> rank % domains);
        return rule.next(Mapping.of(domains, even), traffic);
    }

    private void print(TrafficList items, int[] rankOf, Mapping mapping) {
        ByteArrayOutputStream lines = new ByteArrayOutputStream(16 * rankOf.length);
        for (int item = 0; item < rankOf.length; item++) {
            items.appendId(item, lines);
            char separator = ' ';
            for (int home = 0; home < mapping.homeCount(rankOf[item]); home++) {
                lines.write(separator);
                lines.writeBytes(
                        Integer.toString(mapping.home(rankOf[item], home)).getBytes(StandardCharsets.US_ASCII));
                separator = ',';
            }
            lines.write('\n');
        }
        byte[] bytes = lines.toByteArray();
        streams.out().write(bytes, 0, bytes.length);
        streams.out().flush();
    }
}
