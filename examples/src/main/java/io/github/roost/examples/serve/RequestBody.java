package io.github.roost.examples.serve;

import io.helidon.common.buffers.DataReader.InsufficientDataAvailableException;
import io.helidon.http.HeaderNames;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;

/**
 * Reads a request's body in the request's own virtual thread, before anything is asked of a worker: a client that sends
 * slowly holds its own connection and nothing else, and that only for a time. What all clients together have sent of bodies
 * that are being read is bounded, too: there may be thousands of them. The first bytes of each body are free of that bound,
 * or large bodies that stall would have all small ones refused; the number of connections bounds those. Thread-safe.
 */
final class RequestBody implements AutoCloseable {
    /** Small, since everybody whose body is awaited has one. */
    private static final int CHUNK = 4 << 10;
    /** How many bodies of the largest size may be held at a time; searches are a few kilobytes each. */
    private static final int MAX_AT_A_TIME = 64;
    /**
     * A body up to so many times too large is read to its end and thrown away: a connection that is closed before that may
     * be reset, and the client then never sees why.
     */
    private static final int DISCARDED = 16;

    private final int mostBytes;
    private final Duration time;
    private final ScheduledThreadPoolExecutor clock;
    /** Bytes that may still be held beyond those that each body has free. */
    private final Semaphore room;
    /** Bytes of each body that are held whether there is room or not: 16 KiB where a body may have 1 MiB. */
    private final int free;

    /**
     * @param mostBytes the largest body; all that are being read may together hold {@value #MAX_AT_A_TIME} times as much,
     *     and each a {@value #MAX_AT_A_TIME}th of it besides
     * @param time how long one may take to arrive before its connection is closed
     */
    RequestBody(int mostBytes, Duration time) {
        this.mostBytes = mostBytes;
        this.time = time;
        this.room = new Semaphore((int) Math.min(Integer.MAX_VALUE, (long) mostBytes * MAX_AT_A_TIME));
        this.free = mostBytes / MAX_AT_A_TIME;
        this.clock = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("roost-body-clock").factory());
        clock.setRemoveOnCancelPolicy(true);
    }

    /**
     * From how many bytes on the server itself has to refuse a body, before it reads it: it reads a chunk whole before it
     * gives any of it away, and what nobody asked for to its end.
     *
     * @param mostBytes the largest body
     */
    static long mostDiscarded(int mostBytes) {
        return (long) mostBytes * DISCARDED;
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

    private static void requireJson(ServerRequest request) {
        // As it was sent: what is no media type at all is none of JSON either.
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

    /** Reads on, where the server's complaints about the body are told apart from failures of the service. */
    private int read(InputStream in, byte[] chunk) throws IOException {
        try {
            return in.read(chunk);
        } catch (InsufficientDataAvailableException e) {
            throw new EOFException("the connection ended before the body");
        } catch (RequestException e) {
            throw e.status().code() == Status.REQUEST_ENTITY_TOO_LARGE_413.code() ? tooLarge(mostBytes) : badChunk();
        } catch (NumberFormatException e) {
            throw badChunk();
        }
    }

    private static Problem badChunk() {
        return new Problem(400, "the body must come in valid chunks");
    }

    static Problem tooLarge(int mostBytes) {
        return new Problem(413, "the body must not be larger than %,d bytes".formatted(mostBytes));
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }

    /** What has come of one body, as long as it is needed. A body that there is no room for is read on and thrown away. */
    private final class Held implements AutoCloseable {
        private ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private long size;
        private boolean full;

        void add(byte[] chunk, int length) {
            long charged = charge(size + length) - charge(size);
            size += length;
            full = full || (size <= mostBytes && !room.tryAcquire((int) charged));
            if (size > mostBytes || full) {
                close();
            } else {
                bytes.write(chunk, 0, length);
            }
        }

        private long charge(long bytesHeld) {
            return Math.max(0, bytesHeld - free);
        }

        byte[] whole() {
            if (size > mostBytes) {
                throw tooLarge(mostBytes);
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
