package io.github.roost.bench.peer;

import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.TemporaryFolder;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A Python process that is given a workload and executes commands: one line on its standard input per command, one number on its standard output as
 * the answer, or {@code failed} and why. Not thread-safe. Closing it deletes its private folder.
 */
public final class PeerProcess implements AutoCloseable {
    /** Begins an answer that says why the process ends. */
    private static final String FAILED = "failed ";

    private static final String TUNABLES = "GLIBC_TUNABLES";
    /** As Roost's tables do, memory of the C library asks for huge pages, where the kernel gives them to who asks. */
    private static final String HUGE_PAGES = "glibc.malloc.hugetlb=1";

    private final String name;
    private final Workload workload;
    private final TemporaryFolder folder;
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter orders;

    /**
     * @param name for messages
     * @param python its interpreter
     * @param owner class whose package has the script
     * @param script a resource of {@code owner}; its arguments are the folder of the files {@code rows} and {@code queries}, the dimension, and
     *     {@code arguments}
     */
    public PeerProcess(
            String name, Path python, Class<?> owner, String script, Workload workload, List<String> arguments)
            throws IOException {
        this.name = name;
        this.workload = workload;
        this.folder = new TemporaryFolder("roost-" + name + "-");
        Path program = folder.resolve("peer.py");
        try (InputStream source = owner.getResourceAsStream(script)) {
            Files.copy(Objects.requireNonNull(source), program);
        }
        write(folder.resolve("rows"), workload.rows());
        write(folder.resolve("queries"), workload.queries());
        List<String> command = new ArrayList<>(List.of(
                python.toString(), program.toString(), folder.path().toString(), String.valueOf(workload.dimension())));
        command.addAll(arguments);
        ProcessBuilder starting = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        starting.environment().merge(TUNABLES, HUGE_PAGES, (requested, huge) -> huge + ":" + requested);
        this.process = starting.start();
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.orders = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    }

    private static void write(Path file, float[][] vectors) throws IOException {
        ByteBuffer row = ByteBuffer.allocate(vectors[0].length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (float[] vector : vectors) {
                row.clear();
                row.asFloatBuffer().put(vector);
                while (row.hasRemaining()) {
                    out.write(row);
                }
            }
        }
    }

    /** Returns the next number that the process prints. */
    public double answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the " + name + " process ended, see its message above");
        }
        if (line.startsWith(FAILED)) {
            throw new IOException(line.substring(FAILED.length()));
        }
        return Double.parseDouble(line);
    }

    /** The first answer, a build's time in seconds; closes the process if there is none. */
    public Duration buildTime() throws IOException {
        try {
            return Duration.ofNanos((long) (1e9 * answer()));
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Sends a command and waits for its answer. */
    public double order(String order) throws IOException {
        orders.write(order);
        orders.newLine();
        orders.flush();
        return answer();
    }

    /** Reads the file {@code found} that the process wrote: k 32-bit numbers per query. */
    public int[][] found(int k) throws IOException {
        ByteBuffer ids =
                ByteBuffer.wrap(Files.readAllBytes(folder.resolve("found"))).order(ByteOrder.LITTLE_ENDIAN);
        int[][] found = new int[workload.queries().length][k];
        for (int[] row : found) {
            for (int i = 0; i < k; i++) {
                row[i] = ids.getInt();
            }
        }
        return found;
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        folder.close();
    }
}
