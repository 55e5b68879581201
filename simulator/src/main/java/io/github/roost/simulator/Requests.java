package io.github.roost.simulator;

import io.github.roost.simulator.workload.QueryStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** The endless stream of the searches of all workloads of a machine, mixed by their weights. Not thread-safe. */
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

    /** Advances to the next search. */
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

    /** The table of the current search, by its index in {@link Traces#tables}. */
    int table() {
        return firstTable[part] + streams.get(part).table();
    }

    /** The target of the current search. */
    int target() {
        return streams.get(part).target();
    }

    /** The copy of the table that is searched. */
    int copy() {
        int copies = copiesOf[table()];
        return copies == 1 ? 0 : streams.get(part).copy(copies);
    }

    /** Draws the nanoseconds to the next arrival; a new draw per call. */
    long nanosToNext() {
        return streams.getFirst().nanosToNext();
    }
}
