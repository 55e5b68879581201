package io.github.roost.simulator;

import io.github.roost.simulator.workload.WorkloadSpec;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** Reads and writes traces, so that tables need not be built for every simulation. Stateless. */
public final class TraceFile {
    private static final String HEAD = "roost traces 3";
    private static final int MAX_VALUES = 1 << 28;

    private TraceFile() {}

    /** Writes the traces of one workload; replaces the file atomically, only once they are complete. */
    public static void write(Path file, Traces traces) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        Path part = Files.createTempFile(folder, "traces", ".part");
        try {
            try (DataOutputStream out =
                    new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(part), 1 << 16))) {
                out.writeUTF(HEAD);
                out.writeUTF(traces.spec().json());
                out.writeInt(traces.tables().size());
                for (Traces.Table table : traces.tables()) {
                    out.writeUTF(table.name());
                    out.writeInt(table.rowBytes());
                    out.writeInt(table.rowCount());
                    out.writeInt(table.copies());
                    out.writeInt(table.k());
                    out.writeInt(table.width());
                    write(out, table.listRows());
                    out.writeInt(table.visits().length);
                    for (int[] visits : table.visits()) {
                        write(out, visits);
                    }
                }
            }
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private static void write(DataOutputStream out, int[] values) throws IOException {
        out.writeInt(values.length);
        for (int value : values) {
            out.writeInt(value);
        }
    }

    /**
     * Reads the traces of a workload.
     *
     * @throws IOException if the file cannot be read, is damaged, or holds traces of another workload
     */
    public static Traces read(Path file, WorkloadSpec spec) throws IOException {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 16))) {
            String head = in.readUTF();
            if (!head.equals(HEAD)) {
                throw new IOException(file + " holds no traces: it must begin with \"" + HEAD + "\"");
            }
            if (!in.readUTF().equals(spec.json())) {
                throw new IOException(file + " holds traces of another workload than " + spec.name());
            }
            int count = count(in, 0, file);
            List<Traces.Table> tables = new ArrayList<>();
            for (int table = 0; table < count; table++) {
                tables.add(table(in, file));
            }
            return new Traces(spec, List.copyOf(tables));
        } catch (EOFException cut) {
            throw new IOException(file + " is cut short", cut);
        }
    }

    private static Traces.Table table(DataInputStream in, Path file) throws IOException {
        String name = in.readUTF();
        int rowBytes = count(in, 1, file);
        int rowCount = count(in, 1, file);
        int copies = count(in, 1, file);
        int k = count(in, 1, file);
        int width = count(in, 1, file);
        int[] listRows = ints(in, 0, Integer.MAX_VALUE, file);
        int[][] visits = new int[count(in, 0, file)][];
        int bound = listRows.length == 0 ? rowCount : listRows.length;
        for (int target = 0; target < visits.length; target++) {
            visits[target] = ints(in, copies == 1 ? 0 : -bound, bound - 1, file);
        }
        return new Traces.Table(name, rowBytes, rowCount, copies, k, width, listRows, visits);
    }

    private static int[] ints(DataInputStream in, int min, int max, Path file) throws IOException {
        int[] values = new int[count(in, 0, file)];
        for (int i = 0; i < values.length; i++) {
            values[i] = in.readInt();
            if (values[i] < min || values[i] > max) {
                throw new IOException(
                        file + " is damaged: a value must be between " + min + " and " + max + ", got " + values[i]);
            }
        }
        return values;
    }

    private static int count(DataInputStream in, int min, Path file) throws IOException {
        int count = in.readInt();
        if (count < min || count > MAX_VALUES) {
            throw new IOException(
                    file + " is damaged: a count must be between " + min + " and " + MAX_VALUES + ", got " + count);
        }
        return count;
    }
}
