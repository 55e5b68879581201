package io.github.roost.bench.sim;

/**
 * When a window of the mapper ends: by completed searches, or by time. The paper's windows are of 10 s, and six of them
 * make its long one; a simulated second is some hundred thousand searches.
 *
 * @param searches so many; 0 where time decides
 * @param seconds so many of virtual time; 0 where searches decide
 */
public record WindowLength(long searches, double seconds) {
    public WindowLength {
        if (searches < 0 || seconds < 0 || searches == 0 == (seconds == 0)) {
            throw new IllegalArgumentException(
                    "a window must be of searches or of seconds, got " + searches + " and " + seconds);
        }
    }

    /** Windows of so many searches. */
    public static WindowLength ofSearches(long count) {
        return new WindowLength(count, 0);
    }

    /** Windows of so many seconds of virtual time. */
    public static WindowLength ofSeconds(double seconds) {
        return new WindowLength(0, seconds);
    }

    boolean ended(long completed, double nanos) {
        return searches > 0 ? completed >= searches : nanos >= seconds * 1e9;
    }
}
