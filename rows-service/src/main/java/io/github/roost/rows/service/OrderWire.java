package io.github.roost.rows.service;

import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;

/** The encoding of a coordinator's orders and a server's reports. Input is validated as in {@link Wire}. Stateless. */
final class OrderWire {
    static final String SERVICE = "roost.Orders";

    static final MethodDescriptor<Order, Report> ORDER = MethodDescriptor.<Order, Report>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Order"))
            .setRequestMarshaller(new Orders())
            .setResponseMarshaller(new Reports())
            .build();

    /** The maximum memory of a version at a server, 1 PiB: the sum over a group's servers is a long. */
    private static final long MAX_BYTES = 1L << 50;

    /** Far below the largest number, so that there is always a higher term. */
    private static final long MAX_TERM = 1L << 62;

    private OrderWire() {}

    private static long readTerm(DataInputStream in) throws IOException {
        long term = in.readLong();
        if (term < 0 || term > MAX_TERM) {
            throw new IOException("term must be between 0 and " + MAX_TERM + ", got " + term);
        }
        return term;
    }

    /** The kind of an order. The ordinals are part of the protocol. */
    enum Kind {
        /** Refuse orders of lower terms from now on, and report. */
        LOOK,
        /** Load shards of a version. */
        LOAD,
        /** Unload a version. */
        UNLOAD;

        private static final Kind[] ALL = values();

        static Kind of(int code) throws IOException {
            if (code >= ALL.length) {
                throw new IOException("order must be one of 0 to " + (ALL.length - 1) + ", got " + code);
            }
            return ALL[code];
        }
    }

    /**
     * @param version the version, 0 for a look
     * @param served the shards to load; for other orders the empty set of one shard
     */
    record Order(Kind kind, String table, long term, long version, Served served) {}

    /**
     * @param view the server's view
     * @param seat the replica, and the part of it, that the server is to hold
     * @param term the highest term that the server knows
     * @param bytes the memory in bytes of each version that the server has or is loading
     */
    record Report(ServerView view, RowsServer.Seat seat, long term, Map<Long, Long> bytes) {}

    private static final class Orders implements MethodDescriptor.Marshaller<Order> {
        @Override
        public InputStream stream(Order order) {
            return written(out -> {
                out.writeByte(order.kind.ordinal());
                Wire.writeName(out, order.table);
                out.writeLong(order.term);
                out.writeLong(order.version);
                Wire.writeServed(out, order.served);
            });
        }

        @Override
        public Order parse(InputStream stream) {
            try {
                DataInputStream in = new DataInputStream(stream);
                Wire.requireProtocol(in);
                Kind kind = Kind.of(in.readUnsignedByte());
                return new Order(kind, Wire.readName(in), readTerm(in), in.readLong(), Wire.readServed(in));
            } catch (IOException | IllegalArgumentException e) {
                throw Wire.refused(SERVICE, e);
            }
        }
    }

    private static final class Reports implements MethodDescriptor.Marshaller<Report> {
        @Override
        public InputStream stream(Report report) {
            return written(out -> {
                Wire.writeView(out, report.view);
                out.writeInt(report.seat.group());
                out.writeInt(report.seat.ordinal());
                out.writeInt(report.seat.of());
                out.writeLong(report.term);
                out.writeShort(report.bytes.size());
                for (Map.Entry<Long, Long> entry : report.bytes.entrySet()) {
                    out.writeLong(entry.getKey());
                    out.writeLong(entry.getValue());
                }
            });
        }

        @Override
        public Report parse(InputStream stream) {
            try {
                DataInputStream in = new DataInputStream(stream);
                Wire.requireProtocol(in);
                ServerView view = Wire.readView(in);
                RowsServer.Seat seat = new RowsServer.Seat(in.readInt(), in.readInt(), in.readInt());
                long term = readTerm(in);
                int count = Wire.count("versions", in.readUnsignedShort(), Wire.MAX_VERSIONS);
                Map<Long, Long> bytes = new HashMap<>();
                for (int i = 0; i < count; i++) {
                    long version = in.readLong();
                    long taken = in.readLong();
                    if (taken < 0 || taken > MAX_BYTES) {
                        throw new IOException("bytes of version " + version + " must be between 0 and " + MAX_BYTES
                                + ", got " + taken);
                    }
                    bytes.put(version, taken);
                }
                return new Report(view, seat, term, bytes);
            } catch (IOException | IllegalArgumentException e) {
                throw Wire.refused(SERVICE, e);
            }
        }
    }

    @FunctionalInterface
    private interface Content {
        void writeTo(DataOutputStream out) throws IOException;
    }

    private static InputStream written(Content content) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            Wire.writeProtocol(out);
            content.writeTo(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ByteArrayInputStream(bytes.toByteArray());
    }
}
