package io.github.roost.index.remote;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Thrown when remote memory cannot be read or written, or has invalid content. The message names the region and the problem. */
public class RemoteMemoryException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Makes an exception without a cause.
     *
     * @param region name of the region
     * @param what continues a sentence that begins with the region's name
     */
    public RemoteMemoryException(String region, String what) {
        super(region + " " + what);
    }

    /**
     * Makes an exception with a cause.
     *
     * @param region name of the region
     * @param what continues a sentence that begins with the region's name
     * @param cause the cause, or null
     */
    public RemoteMemoryException(String region, String what, @Nullable Throwable cause) {
        super(region + " " + what, cause);
    }

    /** Thrown when the memory node has not renewed its heartbeat for its term, or cannot be reached any more: its memory may be gone or out of date. */
    public static final class NodeLostException extends RemoteMemoryException {
        private static final long serialVersionUID = 1;

        /**
         * Reports a heartbeat that has stopped.
         *
         * @param region name of the region
         * @param silentMillis time without a new heartbeat, in milliseconds
         * @param termMillis the node's term: time without a heartbeat after which it counts as lost, in milliseconds
         */
        public NodeLostException(String region, long silentMillis, long termMillis) {
            super(
                    region,
                    "has lost its memory node: no heartbeat for " + silentMillis + " ms, where one must come every "
                            + termMillis + " ms");
        }

        /**
         * Reports a loss seen by other means than the heartbeat.
         *
         * @param region name of the region
         * @param why the evidence, continuing the message after a colon
         */
        public NodeLostException(String region, String why) {
            super(region, "has lost its memory node: " + why);
        }
    }

    /** Thrown when the bytes of a partition fail their checks. Such bytes are never searched. */
    public static final class DamagedPartitionException extends RemoteMemoryException {
        private static final long serialVersionUID = 1;

        /** Number of the partition. */
        private final int partition;

        /**
         * Makes an exception for a partition.
         *
         * @param region name of the region
         * @param partition number of the partition, from 0
         * @param what the failed check
         */
        public DamagedPartitionException(String region, int partition, String what) {
            super(region, "has a damaged partition " + partition + ": " + what);
            this.partition = partition;
        }

        /** {@return the number of the partition, from 0} */
        public int partition() {
            return partition;
        }
    }

    /**
     * Thrown when a writer has held its lease for longer than the lease's term and another writer has taken over. The change was not made, unless the
     * writer was fenced off after it had published its records. The table stays usable: the change can be retried.
     */
    public static final class WriterFencedException extends RemoteMemoryException {
        private static final long serialVersionUID = 1;

        /**
         * Makes an exception for a writer.
         *
         * @param region name of the region
         * @param token fencing token of the writer that was fenced off
         */
        public WriterFencedException(String region, long token) {
            super(region, "has another writer: the lease with token " + token + " had ended");
        }
    }
}
