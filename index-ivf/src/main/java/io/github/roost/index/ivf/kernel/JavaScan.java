package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** The scan in Java, over whatever sums the distances of one query to one row. */
final class JavaScan implements ScanKernel {
    /** The lanes' sum for one pair: of squared differences, or of products. */
    interface PairSum {
        float squaredL2(MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride);

        float innerProduct(MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride);
    }

    private final String name;
    private final PairSum pairs;

    JavaScan(String name, PairSum pairs) {
        this.name = name;
        this.pairs = pairs;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void scan(RowRun run, QueryGroup group) {
        if (run.stride() != group.stride) {
            throw new IllegalArgumentException(
                    "the queries' stride must be the rows' " + run.stride() + ", got " + group.stride);
        }
        long rowBytes = (long) run.stride() * Float.BYTES;
        for (long row = 0; row < run.count(); row++) {
            for (int query = 0; query < group.size(); query++) {
                float distance = distance(run, row * rowBytes, group, query * rowBytes);
                // False for NaN, which thereby never gets in.
                if (distance <= group.bounds.getAtIndex(ValueLayout.JAVA_FLOAT, query)) {
                    offer(group, query, distance, run.ids().getAtIndex(ValueLayout.JAVA_LONG, row));
                }
            }
        }
    }

    private float distance(RowRun run, long rowAt, QueryGroup group, long queryAt) {
        return group.innerProduct
                ? group.bias - pairs.innerProduct(group.queries, queryAt, run.vectors(), rowAt, run.stride())
                : pairs.squaredL2(group.queries, queryAt, run.vectors(), rowAt, run.stride());
    }

    @Override
    public void compare(RowPicks picks) {
        for (int i = 0; i < picks.size(); i++) {
            MemorySegment rows = picks.runs.get(i).vectors();
            long rowAt = (long) picks.rows[i] * picks.stride * Float.BYTES;
            float distance = picks.innerProduct
                    ? picks.bias - pairs.innerProduct(picks.query, 0, rows, rowAt, picks.stride)
                    : pairs.squaredL2(picks.query, 0, rows, rowAt, picks.stride);
            picks.distances.setAtIndex(ValueLayout.JAVA_FLOAT, i, distance);
        }
    }

    @Override
    public void scan(CodeRun run, CodeGroup group) {
        group.requireFits(run);
        int[] sums = new int[CodeRun.TILE];
        byte[] tile = new byte[CodeRun.TILE * run.stride()];
        byte[] weights = new byte[group.size() * run.stride()];
        MemorySegment.copy(group.weights, ValueLayout.JAVA_BYTE, 0, weights, 0, weights.length);
        group.found.fill((byte) 0);
        for (int first = 0; first < run.count(); first += CodeRun.TILE) {
            MemorySegment.copy(run.codes(), ValueLayout.JAVA_BYTE, (long) first * run.stride(), tile, 0, tile.length);
            for (int query = 0; query < group.size(); query++) {
                Arrays.fill(sums, group.starts.getAtIndex(ValueLayout.JAVA_INT, query));
                addProducts(tile, weights, query * run.stride(), run.stride(), sums);
                appendNear(run, first, group, query, sums);
            }
        }
    }

    private static void addProducts(byte[] tile, byte[] weights, int weightsAt, int stride, int[] sums) {
        for (int i = 0; i < stride; i++) {
            int weight = weights[weightsAt + i];
            int at = (i & ~3) * CodeRun.TILE + (i & 3);
            for (int row = 0; row < CodeRun.TILE; row++) {
                sums[row] += Byte.toUnsignedInt(tile[at + row * 4]) * weight;
            }
        }
    }

    private static void appendNear(CodeRun run, int first, CodeGroup group, int query, int[] sums) {
        float slope = group.slopes.getAtIndex(ValueLayout.JAVA_FLOAT, query);
        float bound = group.bounds.getAtIndex(ValueLayout.JAVA_FLOAT, query);
        int found = group.found(query);
        for (int row = first; row < Math.min(run.count(), first + CodeRun.TILE); row++) {
            float score = run.term(row) + slope * (float) sums[row - first];
            // False for NaN, which thereby never gets in.
            if (score <= bound) {
                long at = (long) query * CodeGroup.ROOM + found++;
                group.rows.setAtIndex(ValueLayout.JAVA_INT, at, row);
                group.scores.setAtIndex(ValueLayout.JAVA_FLOAT, at, score);
            }
        }
        group.found.setAtIndex(ValueLayout.JAVA_INT, query, found);
    }

    private static void offer(QueryGroup group, int query, float distance, long id) {
        int capacity = group.capacities.getAtIndex(ValueLayout.JAVA_INT, query);
        int size = group.sizes.getAtIndex(ValueLayout.JAVA_INT, query);
        OffHeapTop top = new OffHeapTop(group, query);
        if (size < capacity) {
            top.siftUp(size, distance, id);
            group.sizes.setAtIndex(ValueLayout.JAVA_INT, query, ++size);
        } else if (worse(top.distance(0), top.id(0), distance, id)) {
            top.replaceRoot(capacity, distance, id);
        }
        if (size == capacity && top.distance(0) < group.bounds.getAtIndex(ValueLayout.JAVA_FLOAT, query)) {
            group.bounds.setAtIndex(ValueLayout.JAVA_FLOAT, query, top.distance(0));
        }
    }

    private static boolean worse(float distance, long id, float otherDistance, long otherId) {
        return distance > otherDistance || (distance == otherDistance && id > otherId);
    }

    /** One query's heap in the group's memory: the twin of {@code heap.h}. */
    private record OffHeapTop(MemorySegment distances, MemorySegment ids, long first) {
        OffHeapTop(QueryGroup group, int query) {
            this(group.heapDistances, group.heapIds, (long) query * group.heapStride);
        }

        float distance(int at) {
            return distances.getAtIndex(ValueLayout.JAVA_FLOAT, first + at);
        }

        long id(int at) {
            return ids.getAtIndex(ValueLayout.JAVA_LONG, first + at);
        }

        void set(int at, float distance, long id) {
            distances.setAtIndex(ValueLayout.JAVA_FLOAT, first + at, distance);
            ids.setAtIndex(ValueLayout.JAVA_LONG, first + at, id);
        }

        void siftUp(int from, float distance, long id) {
            int at = from;
            while (at > 0) {
                int parent = (at - 1) / 2;
                if (!worse(distance, id, distance(parent), id(parent))) {
                    break;
                }
                set(at, distance(parent), id(parent));
                at = parent;
            }
            set(at, distance, id);
        }

        void replaceRoot(int size, float distance, long id) {
            int at = 0;
            for (int child = 1; child < size; child = 2 * at + 1) {
                if (child + 1 < size && worse(distance(child + 1), id(child + 1), distance(child), id(child))) {
                    child++;
                }
                if (!worse(distance(child), id(child), distance, id)) {
                    break;
                }
                set(at, distance(child), id(child));
                at = child;
            }
            set(at, distance, id);
        }
    }
}
