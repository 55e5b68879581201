package io.github.roost.bench.sim;

import io.github.roost.bench.workload.WorkloadSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * What the searches of one machine read, recorded from real ones.
 *
 * @param parts the workloads that share the machine, at least one; the load is that of the first
 */
public record Traces(List<Part> parts) {
    /** Rows are read in blocks of so many bytes: a page, which is what prefetchers run through. */
    static final int BLOCK_BYTES = 4096;

    public Traces {
        parts = List.copyOf(parts);
    }

    /**
     * One workload.
     *
     * @param spec the workload
     * @param tables one for each of its tables
     * @param weight its share of all searches, in proportion to those of the others
     */
    public record Part(WorkloadSpec spec, List<Table> tables, double weight) {
        public Part {
            tables = List.copyOf(tables);
        }

        private double meanSearchBytes() {
            return tables.stream().mapToDouble(Table::meanSearchBytes).average().orElse(0);
        }
    }

    /** What the searches of one workload read. */
    public Traces(WorkloadSpec spec, List<Table> tables) {
        this(List.of(new Part(spec, tables, 1)));
    }

    /** Two workloads on one machine, whose searches read as many bytes per second; the load is the first one's. */
    public static Traces mixed(Traces one, Traces other) {
        Part first = one.parts.getFirst();
        Part second = other.parts.getFirst();
        return new Traces(List.of(
                new Part(first.spec, first.tables, 1 / first.meanSearchBytes()),
                new Part(second.spec, second.tables, 1 / second.meanSearchBytes())));
    }

    /** The first workload, whose load is that of all. */
    public WorkloadSpec spec() {
        return parts.getFirst().spec();
    }

    /** The tables of all parts, one part after the other. */
    public List<Table> tables() {
        List<Table> all = new ArrayList<>();
        parts.forEach(part -> all.addAll(part.tables));
        return List.copyOf(all);
    }

    /** The same traces where something else is assumed about the workloads that does not change what searches read. */
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

    /** The same where tables have so many times as many copies, at least one. */
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
     * One table: so many copies side by side of one that was recorded. Arrays are not copied.
     *
     * @param name shows in reports
     * @param rowBytes what a visited row takes: for HNSW a vector and its links, for IVF a vector
     * @param rowCount number of rows of a copy
     * @param copies how many copies, at least 1
     * @param k neighbours that its searches want
     * @param width of its searches: ef, or how many lists are probed
     * @param listRows for IVF the rows of each list of a copy, else empty
     * @param visits for each target the nodes visited, or the lists scanned, in order; {@code ~n} is node n of the first
     *     copy, whichever copy is searched
     */
    public record Table(
            String name, int rowBytes, int rowCount, int copies, int k, int width, int[] listRows, int[][] visits) {
        /** Whether these visits are a search that looked at all rows in their order, and not a walk through the graph. */
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

        /** Mapping ids where it has no regions: one, or one per list. */
        int slots() {
            return hasLists() ? Math.multiplyExact(copies, listRows.length) : 1;
        }

        /** Nodes or blocks of a copy. */
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

        /** Nodes or blocks, each with a key of its own. */
        int items() {
            return Math.multiplyExact(copies, itemsOfCopy());
        }

        int blocks(int list) {
            return Math.toIntExact(((long) listRows[list] * rowBytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
        }

        /** Bytes of all its rows. */
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
