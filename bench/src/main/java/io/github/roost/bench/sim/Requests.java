package io.github.roost.bench.sim;

import io.github.roost.bench.workload.QueryStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** The endless stream of searches of all workloads of a machine, by their weights. Not thread-safe. */
final class Requests {
    private final List<QueryStream> streams = new ArrayList<>();
    private final int[] firstTable;
    private final double[] weightUpTo;
    private final int[] copiesOf;
    private final SplittableRandom random;
    private int part;

    Requests(Traces traces) {
        this.firstTable = new int[traces.parts().size()];
        this.weightUpTo = new double[firstTable.length];
        this.copiesOf = traces.tables().stream().mapToInt(Traces.Table::copies).toArray();
        this.random = new SplittableRandom(~traces.spec().seed());
        double weight = 0;
        int tables = 0;
        for (int i = 0; i < firstTable.length; i++) {
            Traces.Part each = traces.parts().get(i);
            firstTable[i] = tables;
            tables += each.tables().size();
            weight += each.weight();
            weightUpTo[i] = weight;
            streams.add(new QueryStream(each.spec(), each.tables().size()));
        }
    }

    /** Goes on to the next search. */
    void next() {
        part = 0;
        if (weightUpTo.length > 1) {
            double point = random.nextDouble() * weightUpTo[weightUpTo.length - 1];
            while (weightUpTo[part] <= point) {
                part++;
            }
        }
        streams.get(part).next();
    }

    /** The table that is searched, by its place among those of all parts. */
    int table() {
        return firstTable[part] + streams.get(part).table();
    }

    /** The target that it is asked for. */
    int target() {
        return streams.get(part).target();
    }

    /** The copy that is searched. */
    int copy() {
        int copies = copiesOf[table()];
        return copies == 1 ? 0 : streams.get(part).copy(copies);
    }

    /** Nanoseconds to the next arrival, drawn anew by every call. */
    long nanosToNext() {
        return streams.getFirst().nanosToNext();
    }
}
