package io.github.roost.bench.report;

import java.util.List;

/** What a run consists of. Stateless. */
public final class Parts {
    private static final List<Part> FULL = List.of(
            Part.of(
                    "replay-hnsw",
                    2,
                    "bench replay --workload hnsw --budget-mib 48 --level L2 --rounds 6 --seconds 2 --baseline forkjoin"
                            + " --predict --calibrate"),
            Part.of(
                    "replay-ivf",
                    2,
                    "bench replay --workload ivf --budget-mib 96 --level L2 --rounds 6 --seconds 2 --baseline forkjoin"
                            + " --predict --calibrate"),
            Part.of(
                    "sim-hnsw",
                    7,
                    "sim --workload hnsw --ccds 1..12 --policy v0,v1,v2,v2-gated,v2-homes,v2-staying,roost --searches 20000"),
            Part.of(
                    "sim-ivf",
                    3,
                    "sim --workload ivf --ccds 1..12 --policy v0,v1,v2,v2-gated,v2-mailboxes,roost --searches 5000"),
            Part.of(
                    "sim-rome",
                    .5,
                    "sim --workload hnsw --machine rome --policy v0,v1,v2,v2-gated,v2-homes,v2-staying,roost --searches 20000"),
            Part.of(
                    "sim-two-sockets",
                    1,
                    "sim --workload hnsw --machine genoa-2s --policy v0,v1,v2,v2-gated,v2-homes,v2-staying,roost"
                            + " --searches 20000 --in-flight 768"),
            Part.of(
                    "sim-drift",
                    2,
                    "sim --workload hnsw --policy v2,roost --searches 1000000 --window 1000 --drift 50000"),
            Part.of(
                    "sim-sensitivity",
                    2,
                    "sim --workload hnsw --ccds 12 --policy v0,v2,roost --searches 5000 --sensitivity"),
            Part.of("hnsw", 3, "bench hnsw"),
            Part.of(
                    "hnsw-int8",
                    3,
                    "bench hnsw --data mixture --rows 30000 --dimension 384 --centres 40 --ef-construction 100 --k 10"
                            + " --element float32,int8"),
            Part.of("ivf", 2, "bench ivf --nprobe 4,8,16,32,64"),
            Part.of("ivf-mixture", 2, "bench ivf --data mixture --rows 300000 --nlist 512 --k 100 --nprobe 4,8,16,32"),
            Part.of("ivf-int8", 2, "bench ivf --element float32,int8"),
            Part.of("ivf-java", 1, "bench ivf --kernel vector --nprobe 16,32"),
            Part.of("fan-out", .5, "bench fan-out"),
            Part.of("freshness", 1, "bench freshness --data mixture"),
            Part.of("scheduling", 2, "bench scheduling --task-micros 0,10 --submitters 2,8 --rounds 2"),
            Part.of("locality", .5, "bench locality"),
            Part.of("gate", 1, "bench gate"),
            Part.of("remap", .5, "bench remap"),
            Part.of("lucene", 2, "bench lucene --workload vectors,fused --rounds 3"),
            Part.of("serve", 2, "bench serve --load 0.5,1,2"));

    /** Each part, small: to see that all works, no figure to rely on. */
    private static final List<Part> QUICK = List.of(
            Part.of("scheduling", .2, "bench scheduling --task-micros 10 --submitters 2 --rounds 1 --idle-tasks 100"),
            Part.of("locality", .1, "bench locality --rounds 2 --slice-millis 200"),
            Part.of("remap", .1, "bench remap --times 2 --window-millis 200"),
            Part.of(
                    "hnsw",
                    .4,
                    "bench hnsw --data mixture --rows 10000 --k 10 --ef 10,40,160 --rounds 2 --slice-millis 100"),
            Part.of(
                    "ivf",
                    .4,
                    "bench ivf --data mixture --rows 20000 --nlist 64 --nprobe 2,8 --k 10 --rounds 2 --slice-millis 100"),
            Part.of(
                    "replay-hnsw",
                    .3,
                    "bench replay --workload hnsw --budget-mib 8 --level L2 --rounds 3 --seconds 1 --baseline forkjoin"
                            + " --predict"),
            Part.of(
                    "replay-ivf",
                    .3,
                    "bench replay --workload ivf --budget-mib 8 --level L2 --rounds 3 --seconds 1 --predict"),
            Part.of(
                    "sim-hnsw",
                    .4,
                    "sim --workload hnsw --budget-mib 8 --ccds 1..4 --policy v0,v1,v2,v2-gated,v2-homes,v2-staying,roost"
                            + " --searches 2000 --window 100"),
            Part.of(
                    "sim-ivf",
                    .4,
                    "sim --workload ivf --budget-mib 8 --ccds 1..4 --policy v0,v1,v2,v2-gated,v2-mailboxes,roost --searches 500"
                            + " --window 50"),
            Part.of(
                    "sim-drift",
                    .2,
                    "sim --workload hnsw --budget-mib 8 --policy v2,roost --searches 20000 --window 200 --drift 2000"),
            Part.of(
                    "sim-sensitivity",
                    .3,
                    "sim --workload hnsw --budget-mib 8 --policy v0,v2,roost --searches 1000 --window 100"
                            + " --sensitivity"));

    private Parts() {}

    /** Those of a whole run, or of one that shows in a few minutes that all works. */
    public static List<Part> of(boolean quick, boolean peers) {
        List<Part> parts = quick ? QUICK : FULL;
        return peers ? parts : parts.stream().map(Part::withoutPeers).toList();
    }
}
