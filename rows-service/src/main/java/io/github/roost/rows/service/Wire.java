package io.github.roost.rows.service;

import io.github.roost.rows.RowBatch;
import io.github.roost.rows.Schema;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The encoding of requests and answers, big-endian except for rows, which are sent as they are in memory. Input is validated: counts are checked
 * against limits before memory is allocated for them. Stateless.
 */
final class Wire {
    static final String SERVICE = "roost.Tables";
    /** The maximum number of keys in a request. */
    static final int MAX_KEYS = 100_000;

    private static final int PROTOCOL = 1;
    static final int MAX_COLUMNS = Schema.MAX_COLUMNS;
    static final int MAX_VERSIONS = 16;
    private static final int MAX_NAME_BYTES = 255;

    static final MethodDescriptor<Request, Reply> FETCH = MethodDescriptor.<Request, Reply>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Fetch"))
            .setRequestMarshaller(new Requests())
            .setResponseMarshaller(new Replies())
            .build();

    private Wire() {}

    /**
     * @param known the sequence number of the server's view that the client has
     * @param defect why it could not be read, or null. gRPC would close the call of a request that the server throws on as of an unknown error, and
     *     log a stack trace
     */
    record Request(
            String table,
            long version,
            int shards,
            int shard,
            long known,
            List<String> columns,
            long[] keys,
            @Nullable String defect) {
        Request(String table, long version, int shards, int shard, long known, List<String> columns, long[] keys) {
            this(table, version, shards, shard, known, columns, keys, null);
        }

        static Request unreadable(String defect) {
            return new Request("", 0, 0, 0, 0, List.of(), new long[0], defect);
        }
    }

    /**
     * @param view the server's view, null if the client has it
     * @param content of the rows' version; 0 without rows
     * @param rows null if the server does not have the requested shard
     */
    record Reply(
            @Nullable ServerView view,
            long content,
            @Nullable RowBatch rows) {
        static Reply without(ServerView view) {
            return new Reply(view, 0, null);
        }
    }

    private static final class Requests implements MethodDescriptor.Marshaller<Request> {
        @Override
        public InputStream stream(Request request) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (DataOutputStream out = new DataOutputStream(bytes)) {
                writeProtocol(out);
                writeName(out, request.table);
                out.writeLong(request.version);
                out.writeInt(request.shards);
                out.writeInt(request.shard);
                out.writeLong(request.known);
                out.writeShort(request.columns.size());
                for (String column : request.columns) {
                    writeName(out, column);
                }
                out.writeInt(request.keys.length);
                for (long key : request.keys) {
                    out.writeLong(key);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return new ByteArrayInputStream(bytes.toByteArray());
        }

        @Override
        public Request parse(InputStream stream) {
            try {
                DataInputStream in = new DataInputStream(stream);
                requireProtocol(in);
                String table = readName(in);
                long version = in.readLong();
                int shards = in.readInt();
                int shard = in.readInt();
                long known = in.readLong();
                int count = count("columns", in.readUnsignedShort(), MAX_COLUMNS);
                List<String> columns = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    columns.add(readName(in));
                }
                long[] keys = new long[count("keys", in.readInt(), MAX_KEYS)];
                for (int i = 0; i < keys.length; i++) {
                    keys[i] = in.readLong();
                }
                return new Request(table, version, shards, shard, known, columns, keys);
            } catch (IOException e) {
                return Request.unreadable(notOf(SERVICE, e));
            }
        }
    }

    /** An outgoing answer: some bytes, then the rows without a copy. Read once, before the rows' memory is reused. */
    private static final class Outgoing extends InputStream implements KnownLength, Drainable {
        private final byte[] head;
        private final @Nullable RowBatch rows;
        private @Nullable InputStream whole;
        private boolean isDrained;

        Outgoing(byte[] head, @Nullable RowBatch rows) {
            this.head = head;
            this.rows = rows;
        }

        private int length() {
            return head.length + (rows == null ? 0 : (int) rows.memory().byteSize());
        }

        @Override
        public int available() throws IOException {
            return isDrained ? 0 : whole == null ? length() : whole.available();
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            int length = available();
            if (whole != null) {
                whole.transferTo(target);
            } else if (!isDrained) {
                target.write(head);
                if (rows != null) {
                    rows.writeTo(target);
                }
            }
            isDrained = true;
            return length;
        }

        private InputStream whole() throws IOException {
            if (whole == null) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                drainTo(bytes);
                isDrained = false;
                whole = new ByteArrayInputStream(bytes.toByteArray());
            }
            return whole;
        }

        @Override
        public int read() throws IOException {
            return whole().read();
        }

        @Override
        public int read(byte[] to, int at, int count) throws IOException {
            return whole().read(to, at, count);
        }
    }

    private static final class Replies implements MethodDescriptor.Marshaller<Reply> {
        @Override
        public InputStream stream(Reply reply) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (DataOutputStream out = new DataOutputStream(bytes)) {
                writeProtocol(out);
                out.writeBoolean(reply.view != null);
                if (reply.view != null) {
                    writeView(out, reply.view);
                }
                out.writeBoolean(reply.rows != null);
                if (reply.rows != null) {
                    out.writeLong(reply.rows.version());
                    out.writeLong(reply.content);
                    out.writeInt(reply.rows.size());
                    out.write(reply.rows.schema().encode());
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return new Outgoing(bytes.toByteArray(), reply.rows);
        }

        @Override
        public Reply parse(InputStream stream) {
            try {
                DataInputStream in = new DataInputStream(stream);
                requireProtocol(in);
                ServerView view = in.readBoolean() ? readView(in) : null;
                if (!in.readBoolean()) {
                    return new Reply(view, 0, null);
                }
                long version = in.readLong();
                long content = in.readLong();
                int size = count("rows", in.readInt(), MAX_KEYS);
                Schema schema = Schema.decode(in);
                // gRPC limits the size of a message.
                MemorySegment rows = MemorySegment.ofArray(in.readAllBytes());
                return new Reply(view, content, RowBatch.of(schema, version, size, rows));
            } catch (IOException | IllegalArgumentException e) {
                throw refused(SERVICE, e);
            }
        }
    }

    static void writeView(DataOutputStream out, ServerView view) throws IOException {
        writeName(out, view.server());
        out.writeLong(view.sequence());
        out.writeShort(view.versions().size());
        for (Map.Entry<Long, Served> entry : view.versions().entrySet()) {
            out.writeLong(entry.getKey());
            writeServed(out, entry.getValue());
        }
    }

    static void writeServed(DataOutputStream out, Served served) throws IOException {
        out.writeShort(served.shards());
        out.writeShort(served.here().size());
        for (int shard : served.here()) {
            out.writeShort(shard);
        }
        out.writeLong(served.content());
    }

    static ServerView readView(DataInputStream in) throws IOException {
        String server = readName(in);
        long sequence = in.readLong();
        int count = count("versions", in.readUnsignedShort(), MAX_VERSIONS);
        Map<Long, Served> versions = new HashMap<>();
        for (int i = 0; i < count; i++) {
            versions.put(in.readLong(), readServed(in));
        }
        return new ServerView(server, sequence, versions);
    }

    /** Throws IllegalArgumentException if a number is out of range. */
    static Served readServed(DataInputStream in) throws IOException {
        int shards = in.readUnsignedShort();
        Set<Integer> here = new HashSet<>();
        int many = count("shards", in.readUnsignedShort(), Served.MAX_SHARDS);
        for (int i = 0; i < many; i++) {
            here.add(in.readUnsignedShort());
        }
        return new Served(shards, here, in.readLong());
    }

    static void writeProtocol(DataOutputStream out) throws IOException {
        out.writeByte(PROTOCOL);
    }

    static void requireProtocol(DataInputStream in) throws IOException {
        int protocol = in.readUnsignedByte();
        if (protocol != PROTOCOL) {
            throw new IOException("protocol must be " + PROTOCOL + ", got " + protocol);
        }
    }

    static int count(String what, int count, int max) throws IOException {
        if (count < 0 || count > max) {
            throw new IOException(what + " must be between 0 and " + max + ", got " + count);
        }
        return count;
    }

    static void writeName(DataOutputStream out, String name) throws IOException {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        out.writeByte(count("bytes of a name", bytes.length, MAX_NAME_BYTES));
        out.write(bytes);
    }

    /** Throws IllegalArgumentException if a name is too long to be sent. */
    static void requireName(String what, String name) {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_NAME_BYTES) {
            throw new IllegalArgumentException(
                    what + " must have " + MAX_NAME_BYTES + " bytes at most, has " + bytes + ": " + name);
        }
    }

    static String readName(DataInputStream in) throws IOException {
        int length = in.readUnsignedByte();
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("a name is cut off");
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static String notOf(String service, Exception e) {
        return "not a message of " + service + ": " + e.getMessage();
    }

    static RuntimeException refused(String service, Exception e) {
        return Status.INVALID_ARGUMENT
                .withDescription(notOf(service, e))
                .withCause(e)
                .asRuntimeException();
    }
}
