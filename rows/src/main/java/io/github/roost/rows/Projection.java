package io.github.roost.rows;

import static io.github.roost.rows.Schema.INT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/** Some columns of a schema, and the copying of these columns out of a full row. Immutable. */
final class Projection {
    private final Schema from;
    private final Schema to;
    /** Whether rows are copied unchanged. */
    private final boolean isWhole;
    /** Runs of fixed values to copy: from, to, bytes. */
    private final int[] runs;
    /** For each variable column of the target, its index among the source's. */
    private final int[] variables;

    private Projection(Schema from, Schema to, int[] runs, int[] variables) {
        this.from = from;
        this.to = to;
        this.isWhole = from.equals(to);
        this.runs = runs;
        this.variables = variables;
    }

    /** Selects columns by name; all columns if none is named. */
    static Projection of(Schema from, List<String> names) {
        if (names.isEmpty()) {
            return new Projection(from, from, new int[0], new int[0]);
        }
        int[] columns = names.stream().mapToInt(from::indexOf).toArray();
        Schema to = Schema.of(names.stream()
                .map(name -> from.columns().get(from.indexOf(name)))
                .toList());
        int[] runs = new int[3 * columns.length];
        int[] variables = new int[to.variables()];
        int count = 0;
        for (int i = 0; i < columns.length; i++) {
            Column column = to.columns().get(i);
            int place = from.place(columns[i]);
            if (column.type().isVariable()) {
                variables[to.place(i)] = place;
            } else if (count > 0 && runs[count - 3] + runs[count - 1] == place) {
                // They are adjacent in the target, too, as it has no gaps.
                runs[count - 1] += column.bytes();
            } else {
                runs[count] = place;
                runs[count + 1] = to.place(i);
                runs[count + 2] = column.bytes();
                count += 3;
            }
        }
        return new Projection(from, to, Arrays.copyOf(runs, count), variables);
    }

    Schema schema() {
        return to;
    }

    /** The length of a row of the target. */
    int bytes(MemorySegment in, long row, int bytes) {
        if (isWhole) {
            return bytes;
        }
        int sum = to.headBytes();
        for (int variable : variables) {
            sum += from.end(in, row, variable) - from.begin(in, row, variable);
        }
        return sum;
    }

    /** Writes a row of the target; returns its end offset. */
    long copy(MemorySegment in, long row, int bytes, MemorySegment out, long at) {
        if (isWhole) {
            MemorySegment.copy(in, row, out, at, bytes);
            return at + bytes;
        }
        for (int i = 0; i < runs.length; i += 3) {
            MemorySegment.copy(in, row + runs[i], out, at + runs[i + 1], runs[i + 2]);
        }
        long values = at + to.headBytes();
        long to = values;
        for (int i = 0; i < variables.length; i++) {
            int begin = from.begin(in, row, variables[i]);
            int length = from.end(in, row, variables[i]) - begin;
            MemorySegment.copy(in, row + from.headBytes() + begin, out, to, length);
            to += length;
            out.set(INT, at + this.to.fixedBytes() + (long) i * Integer.BYTES, Math.toIntExact(to - values));
        }
        return to;
    }
}
