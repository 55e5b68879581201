package io.github.roost.server;

import io.helidon.common.buffers.DataReader.InsufficientDataAvailableException;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import io.helidon.http.media.ReadableEntity;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;

/**
 * Reads a request's body in the request's own virtual thread, before any worker is involved: a slow client holds only its own connection, and
 * only for a limited time. The total size of all bodies being read is bounded too, as there may be thousands. The first bytes of each body are
 * exempt, since otherwise stalled large bodies would block all small ones; the number of connections bounds those bytes. Thread-safe.
 */
final class RequestBody {
    /** Small, since each body being read has one. */
    private static final int CHUNK = 4 << 10;
    /** Number of bodies of the largest size that may be held at a time; searches have a few kilobytes each. */
    private static final int MAX_AT_A_TIME = 64;
    /**
     * A body up to this many times too large, or that no route reads, is read to its end and discarded: if the connection were closed earlier, it
     * might be reset, and the client would never see the error.
     */
    private static final int DISCARDED = 16;

    private final int maxBytes;
    private final Duration time;
    private final ScheduledExecutorService clock;
    /** Bytes that may still be held beyond the free bytes of each body. */
    private final Semaphore room;
    /** Bytes of each body that are exempt from the bound: 16 KiB for a limit of 1 MiB. */
    private final int free;

    /**
     * @param maxBytes the largest body; all bodies being read may together hold {@value #MAX_AT_A_TIME} times as much, and each one its free
     *     bytes, a {@value #MAX_AT_A_TIME}th of it, in addition
     * @param time time limit for a body to arrive; then its connection is closed
     */
    RequestBody(int maxBytes, Duration time, ScheduledExecutorService clock) {
        this.maxBytes = maxBytes;
        this.time = time;
        this.room = new Semaphore((int) Math.min(Integer.MAX_VALUE, (long) maxBytes * MAX_AT_A_TIME));
        this.free = maxBytes / MAX_AT_A_TIME;
        this.clock = clock;
    }

    /**
     * The body size above which the server itself must refuse a body before reading it: it reads a chunk completely before it passes any of it
     * on, and reads an unread body to its end.
     *
     * @param maxBytes the largest body
     */
    static long maxDiscarded(int maxBytes) {
        return (long) maxBytes * DISCARDED;
    }

    /** @throws Problem 400, 413, 415 or 429 if the body is not JSON of this form, or too large, or one too many */
    <T> T read(ServerRequest request, Class<T> form) {
        requireJson(request);
        try (Held body = new Held()) {
            if (request.content().hasEntity()) {
                read(request.content().inputStream(), body);
            }
            return Json.read(body.whole(), form);
        }
    }

    /**
     * Reads and discards what no route has read, within the time of a body, unless the answer closes the connection.
     *
     * @throws CloseConnectionException if the rest does not come
     */
    void discardRest(ServerRequest request, ServerResponse response) {
        ReadableEntity body = request.content();
        if (body.consumed() || response.headers().containsToken(HeaderValues.CONNECTION_CLOSE)) {
            return;
        }
        try (Patience _ = new Patience(clock, time)) {
            body.consume();
        } catch (RuntimeException e) {
            throw new CloseConnectionException("the rest of a body did not come", e);
        }
    }

    private static void requireJson(ServerRequest request) {
        // The header as sent: an invalid media type is not JSON either.
        String type = request.headers().first(HeaderNames.CONTENT_TYPE).orElse("none");
        if (!"application/json".equalsIgnoreCase(type.split(";", 2)[0].strip())) {
            throw new Problem(415, "the content type must be application/json, got " + type);
        }
    }

    private void read(InputStream in, Held body) {
        byte[] chunk = new byte[CHUNK];
        try (Patience patience = new Patience(clock, time)) {
            for (int read = read(in, chunk); read >= 0; read = read(in, chunk)) {
                body.add(chunk, read);
                patience.requireLeft();
            }
            patience.requireLeft();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads more; separates the server's errors about the body from failures of the service. */
    private int read(InputStream in, byte[] chunk) throws IOException {
        try {
            return in.read(chunk);
        } catch (InsufficientDataAvailableException e) {
            throw new EOFException("the connection ended before the body");
        } catch (RequestException e) {
            throw e.status().code() == Status.REQUEST_ENTITY_TOO_LARGE_413.code() ? tooLarge(maxBytes) : badChunk();
        } catch (NumberFormatException e) {
            throw badChunk();
        }
    }

    private static Problem badChunk() {
        return new Problem(400, "the body must come in valid chunks");
    }

    static Problem tooLarge(int maxBytes) {
        return new Problem(413, "the body must not be larger than %,d bytes".formatted(maxBytes));
    }

    /** The received bytes of one body, while they are needed. A body without room is read on and discarded. */
    private final class Held implements AutoCloseable {
        private ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private long size;
        private boolean full;

        void add(byte[] chunk, int length) {
            long charged = charge(size + length) - charge(size);
            size += length;
            full = full || (size <= maxBytes && !room.tryAcquire((int) charged));
            if (size > maxBytes || full) {
                close();
            } else {
                bytes.write(chunk, 0, length);
            }
        }

        private long charge(long bytesHeld) {
            return Math.max(0, bytesHeld - free);
        }

        byte[] whole() {
            if (size > maxBytes) {
                throw tooLarge(maxBytes);
            }
            if (full) {
                throw Searches.full();
            }
            return bytes.toByteArray();
        }

        @Override
        public void close() {
            room.release((int) charge(bytes.size()));
            bytes = new ByteArrayOutputStream();
        }
    }
}
