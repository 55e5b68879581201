package io.github.roost.bench.report;

import java.util.List;

/** The parts of a run; each takes less than four minutes on two otherwise idle cores. Stateless. */
public final class Parts {
    private static final String SIMULATED = "v0,v1,v2,v2-gated,roost";
    private static final String REPLAYED = "v1,v0,v2,v2-gated,roost --baseline forkjoin,fixed";

    private static final String GRAPHS = "hnswlib,usearch,glass-sq8,symphonyqg";

    private static final List<RunPart> FULL = List.of(
            RunPart.of("calibration", 1.2, "sim --calibrate"),
            RunPart.of(
                    "replay-hnsw",
                    1.8,
                    "bench replay --workload hnsw --budget-mib 48 --level L2 --rounds 2 --seconds 1 --policy "
                            + REPLAYED + " --load .5,.7,.9 --predict --parameters calibration.json"),
            RunPart.of(
                    "replay-ivf",
                    1.8,
                    "bench replay --workload ivf --budget-mib 96 --level L2 --rounds 2 --seconds 1 --policy " + REPLAYED
                            + " --load .5,.7,.9 --predict --parameters calibration.json"),
            RunPart.of(
                    "sim-hnsw",
                    1,
                    "sim --workload hnsw --ccds 1..12 --policy " + SIMULATED + " --searches 5000 --sample 16"),
            RunPart.of(
                    "sim-ivf",
                    1,
                    "sim --workload ivf --ccds 1..12 --policy " + SIMULATED + " --searches 2500 --sample 16"),
            RunPart.of(
                    "sim-rome",
                    .2,
                    "sim --workload hnsw --machine rome --policy " + SIMULATED + " --searches 5000 --sample 16"),
            RunPart.of(
                    "sim-two-sockets",
                    .3,
                    "sim --workload hnsw --machine genoa-2s --policy " + SIMULATED
                            + " --searches 5000 --sample 16 --in-flight 768"),
            RunPart.of(
                    "sim-drift",
                    .5,
                    "sim --workload hnsw --policy v2,v2-gated,roost --searches 200000 --window 1000 --drift 10000"
                            + " --sample 32"),
            RunPart.of(
                    "sim-sensitivity",
                    .5,
                    "sim --workload hnsw --ccds 12 --policy v0,roost --searches 2000 --sample 16 --sensitivity"),
            RunPart.of(
                    "rivals-glove",
                    3.3,
                    "bench rivals --data glove100 --rows 60000 --element int8 --k 10,100 --rival " + GRAPHS
                            + " --rounds 3 --slice-millis 50"),
            RunPart.of(
                    "rivals-floret",
                    3.3,
                    "bench rivals --data floret300 --rows 40000 --element int8 --rival " + GRAPHS
                            + " --rounds 3 --slice-millis 50"),
            RunPart.of(
                    "rivals-ivf",
                    1,
                    "bench rivals --index ivf --data glove100 --rows 100000 --element codes --rival faiss-ivf,scann"
                            + " --rounds 3 --slice-millis 50"),
            RunPart.of("ivf", .8, "bench ivf --nprobe 8,32 --rounds 3 --slice-millis 300"),
            RunPart.of(
                    "ivf-mixture",
                    .8,
                    "bench ivf --data mixture --rows 300000 --nlist 512 --k 100 --nprobe 8,32 --rounds 3 --slice-millis 300"),
            RunPart.of("fan-out", .4, "bench fan-out"),
            RunPart.of("freshness", .4, "bench freshness --data mixture --rows 300000 --rounds 5"),
            RunPart.of(
                    "scheduling",
                    1,
                    "bench scheduling --only start,throughput,reporting --task-micros 0,10 --submitters 2,8 --rounds 2"),
            RunPart.of("locality", .4, "bench locality"),
            RunPart.of("gate", .8, "bench gate --rounds 3"),
            RunPart.of("remap", .4, "bench remap"),
            RunPart.of("lucene", 1.1, "bench lucene --workload vectors --rounds 3"),
            RunPart.of("serve", .9, "bench serve --load 0.5,2 --rounds 3"),
            RunPart.of("table", .4, "bench table --count-bits 20 --bits 14,20 --rounds 5"),
            RunPart.of("batch", .7, "bench batch --rows 100000 --rounds 3"),
            RunPart.of("stalls", .8, "bench stalls --rows 20000 --rounds 3"),
            RunPart.of("io", .3, "bench io --mib 256 --rounds 5 --slice-millis 200"),
            RunPart.of("remote", .8, "bench remote --rows 50000 --partitions 40 --batch 2000 --without-graph"));

    /** A small version of each kind of part: a smoke test, with no reliable figures. */
    private static final List<RunPart> QUICK = List.of(
            RunPart.of(
                    "scheduling", .2, "bench scheduling --task-micros 10 --submitters 2 --rounds 1 --idle-tasks 100"),
            RunPart.of("locality", .1, "bench locality --rounds 2 --slice-millis 200"),
            RunPart.of("remap", .1, "bench remap --times 2 --window-millis 200"),
            RunPart.of("rivals", .3, "bench rivals --rows 3000 --ef 10,40,160 --rounds 2 --slice-millis 30"),
            RunPart.of(
                    "ivf",
                    .4,
                    "bench ivf --data mixture --rows 20000 --nlist 64 --nprobe 2,8 --k 10 --rounds 2 --slice-millis 100"),
            RunPart.of(
                    "replay-hnsw",
                    .3,
                    "bench replay --workload hnsw --budget-mib 8 --level L2 --rounds 2 --seconds 1 --policy v1,roost"
                            + " --baseline forkjoin --load .5 --predict"),
            RunPart.of(
                    "replay-ivf",
                    .3,
                    "bench replay --workload ivf --budget-mib 8 --level L2 --rounds 2 --seconds 1 --policy v1,roost"
                            + " --load .5 --predict"),
            RunPart.of(
                    "sim-hnsw",
                    .4,
                    "sim --workload hnsw --budget-mib 8 --ccds 1..4 --policy " + SIMULATED
                            + " --searches 2000 --window 100"),
            RunPart.of(
                    "sim-ivf",
                    .4,
                    "sim --workload ivf --budget-mib 8 --ccds 1..4 --policy " + SIMULATED
                            + " --searches 500 --window 50"),
            RunPart.of(
                    "sim-drift",
                    .2,
                    "sim --workload hnsw --budget-mib 8 --policy v2,roost --searches 20000 --window 200 --drift 2000"),
            RunPart.of(
                    "sim-sensitivity",
                    .3,
                    "sim --workload hnsw --budget-mib 8 --policy v0,roost --searches 1000 --window 100 --sensitivity"),
            RunPart.of("table", .1, "bench table --count-bits 12 --bits 12 --rounds 2"),
            RunPart.of("batch", .2, "bench batch --rows 2000 --keys 10,100 --rounds 1"),
            RunPart.of("stalls", .2, "bench stalls --rows 2000 --rounds 2 --slice-millis 100"),
            RunPart.of("io", .1, "bench io --mib 8 --depth 1,4 --rounds 2 --slice-millis 50"),
            RunPart.of(
                    "remote",
                    .2,
                    "bench remote --rows 4000 --partitions 8 --batch 200 --visited 3 --rounds 2 --without-graph"));

    private Parts() {}

    /** The parts of a full run, or of a quick one, which tests in a few minutes that everything works. */
    public static List<RunPart> of(boolean quick, boolean peers) {
        List<RunPart> parts = quick ? QUICK : FULL;
        return peers ? parts : parts.stream().map(RunPart::withoutPeers).toList();
    }
}
