package io.github.roost.examples.cli;

import io.github.roost.core.mapping.HotColdPairing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost map}: Algorithm 1 on a list from standard input. */
@Command(
        name = "map",
        description = {
            "Gives each item of standard input a cache domain: hottest item first, each to the domain with the least"
                    + " traffic so far. Equal traffic: the smaller id first; equal loads: the smaller domain.",
            "Standard input: one \"id traffic\" a line, non-negative integers. Standard output: one \"id domain\" a"
                    + " line, in input order."
        })
final class MapCommand implements Callable<Integer> {
    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--domains",
            required = true,
            paramLabel = "M",
            description = "Number of cache domains, at least 1.")
    private int domains;

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
        int[] domainByRank = HotColdPairing.assign(traffic, domains);
        int[] domainOf = new int[byId.length];
        for (int rank = 0; rank < byId.length; rank++) {
            domainOf[byId[rank]] = domainByRank[rank];
        }
        print(items, domainOf);
        return 0;
    }

    private void print(TrafficList items, int[] domainOf) {
        StringBuilder lines = new StringBuilder(16 * domainOf.length);
        for (int item = 0; item < domainOf.length; item++) {
            lines.append(items.id(item)).append(' ').append(domainOf[item]).append('\n');
        }
        byte[] bytes = lines.toString().getBytes(StandardCharsets.US_ASCII);
        streams.out().write(bytes, 0, bytes.length);
        streams.out().flush();
    }
}
