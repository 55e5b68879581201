package io.github.roost.simulator;

import io.github.roost.simulator.workload.WorkloadSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The reads of the searches of one machine, recorded from real searches.
 *
 * @param parts the workloads that share the machine, at least one; the first one defines the load
 */
public record Traces(List<Part> parts) {
    /** Rows are read in blocks of a page, the unit within which hardware prefetchers work. */
    static final int BLOCK_BYTES = 4096;

    public Traces {
        parts = List.copyOf(parts);
    }

    /**
     * One workload.
     *
     * @param spec the workload
     * @param tables one per table of the workload
     * @param weight its share of all searches, relative to the other parts' weights
     */
    public record Part(WorkloadSpec spec, List<Table> tables, double weight) {
        public Part {
            tables = List.copyOf(tables);
        }

        private double meanSearchBytes() {
            return tables.stream().mapToDouble(Table::meanSearchBytes).average().orElse(0);
        }
    }

    /** The traces of one workload. */
    public Traces(WorkloadSpec spec, List<Table> tables) {
        this(List.of(new Part(spec, tables, 1)));
    }

    /** Two workloads on one machine, whose searches read equal bytes per second; the first one defines the load. */
    public static Traces mixed(Traces one, Traces other) {
        Part first = one.parts.getFirst();
        Part second = other.parts.getFirst();
        return new Traces(List.of(
                new Part(first.spec, first.tables, 1 / first.meanSearchBytes()),
                new Part(second.spec, second.tables, 1 / second.meanSearchBytes())));
    }

    /** The first workload, which defines the load. */
    public WorkloadSpec spec() {
        return parts.getFirst().spec();
    }

    /** The tables of all parts, part by part. */
    public List<Table> tables() {
        List<Table> all = new ArrayList<>();
        parts.forEach(part -> all.addAll(part.tables));
        return List.copyOf(all);
    }

    /** Returns a copy with changed workload specs; the change must not affect the reads of searches. */
    public Traces with(UnaryOperator<WorkloadSpec> change) {
        return new Traces(parts.stream()
                .map(part -> new Part(change.apply(part.spec), part.tables, part.weight))
                .toList());
    }

    /** The largest table of the first workload, alone. */
    public Traces ofLargestTable() {
        Part part = parts.getFirst();
        Table largest = part.tables.stream()
                .max(Comparator.comparingLong(table -> (long) table.copies() * table.rowCount()))
                .orElseThrow();
        return new Traces(part.spec, List.of(largest));
    }

    /** Returns a copy in which the copies of each table are multiplied by {@code factor}; at least one each. */
    public Traces withCopies(double factor) {
        return new Traces(parts.stream()
                .map(part -> new Part(
                        part.spec,
                        part.tables.stream()
                                .map(table -> table.withCopies(factor))
                                .toList(),
                        part.weight))
                .toList());
    }

    /**
     * One table: several copies of a recorded table side by side. Arrays are not copied.
     *
     * @param name shown in reports
     * @param rowBytes bytes read per visited row: for HNSW a vector and its links, for IVF a vector
     * @param rowCount rows per copy
     * @param copies number of copies, at least 1
     * @param k neighbors that its searches want
     * @param width of its searches: ef or nprobe
     * @param listRows for IVF the rows of each list of a copy, else empty
     * @param visits per target the visited nodes or scanned lists, in order; {@code ~n} is node n of the first copy, whichever copy is searched
     */
    public record Table(
            String name, int rowBytes, int rowCount, int copies, int k, int width, int[] listRows, int[][] visits) {
        /** Whether these visits are of a search that compared all rows in order, not a graph search. */
        static boolean isWhole(int[] visited) {
            int last = visited.length - 1;
            return last >= 2 && visited[0] == 0 && visited[last / 2] == last / 2 && visited[last] == last;
        }

        /** Whether it is an IVF table. */
        boolean hasLists() {
            return listRows.length > 0;
        }

        private Table withCopies(double factor) {
            int count = (int) Math.max(1, Math.round(copies * factor));
            return new Table(name, rowBytes, rowCount, count, k, width, listRows, visits);
        }

        /** Number of mapping ids if the table is not divided into regions: one, or one per list. */
        int slots() {
            return hasLists() ? Math.multiplyExact(copies, listRows.length) : 1;
        }

        /** Nodes or blocks per copy. */
        int itemsOfCopy() {
            if (!hasLists()) {
                return rowCount;
            }
            int blocks = 0;
            for (int list = 0; list < listRows.length; list++) {
                blocks += blocks(list);
            }
            return blocks;
        }

        /** Nodes or blocks, each with its own key. */
        int items() {
            return Math.multiplyExact(copies, itemsOfCopy());
        }

        int blocks(int list) {
            return Math.toIntExact(((long) listRows[list] * rowBytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
        }

        /** Bytes of all rows. */
        public long bytes() {
            return (long) copies * rowCount * rowBytes;
        }

        /** Bytes that a search reads. */
        long searchBytes(int target) {
            if (!hasLists()) {
                return (long) visits[target].length * rowBytes;
            }
            long rows = 0;
            for (int list : visits[target]) {
                rows += listRows[list];
            }
            return rows * rowBytes;
        }

        private double meanSearchBytes() {
            long sum = 0;
            for (int target = 0; target < visits.length; target++) {
                sum += searchBytes(target);
            }
            return (double) sum / Math.max(1, visits.length);
        }
    }
}
