package io.github.roost.topology;

import io.github.roost.topology.text.TopologyJson;

/** Prints the live machine, twice as JSON and once more as a thread pinned to its last core sees it. */
final class LiveProbe {
    private LiveProbe() {}

    public static void main(String[] args) {
        Topology first = TopologyReader.live().read();
        System.out.println(TopologyJson.of(first));
        System.out.println(TopologyJson.of(TopologyReader.live().read()));
        Pinner.Result pin =
                Pinner.of(first).pin(first.domains().getLast().cores().getLast());
        System.out.println(TopologyJson.of(TopologyReader.live().read()));
        System.out.println("bindable=" + first.bindable() + " pinned=" + pin.pinned());
    }
}
