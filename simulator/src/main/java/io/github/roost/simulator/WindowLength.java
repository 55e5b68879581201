package io.github.roost.simulator;

/**
 * The end of the mapper's windows, by completed searches or by time. The paper's short windows are of 10 s, and six of
 * them make its long window; a simulated second has some hundred thousand searches.
 *
 * @param searches per window; 0 if time decides
 * @param seconds of virtual time per window; 0 if searches decide
 */
public record WindowLength(long searches, double seconds) {
    public WindowLength {
        if (searches < 0 || seconds < 0 || searches == 0 == (seconds == 0)) {
            throw new IllegalArgumentException(
                    "a window must be of searches or of seconds, got " + searches + " and " + seconds);
        }
    }

    /** Windows of {@code count} searches. */
    public static WindowLength ofSearches(long count) {
        return new WindowLength(count, 0);
    }

    /** Windows of {@code seconds} seconds of virtual time. */
    public static WindowLength ofSeconds(double seconds) {
        return new WindowLength(0, seconds);
    }

    boolean ended(long completed, double nanos) {
        return searches > 0 ? completed >= searches : nanos >= seconds * 1e9;
    }
}
