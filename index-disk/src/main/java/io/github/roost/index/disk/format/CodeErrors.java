package io.github.roost.index.disk.format;

/**
 * How well the codes of a table stand for its rows: decides, as a pure function, when they are to be learned again. An error is the squared
 * distance from a row to its code.
 *
 * @param trained number of rows that the codes were learned from or given to at once; 0 if unknown
 * @param mean {@linkplain MeanError mean error} of these
 * @param added number of rows added since
 * @param sum sum of the errors of these, of which none counts much more than the mean
 */
public record CodeErrors(int trained, double mean, int added, double sum) {
    /** Nothing is known. */
    static final CodeErrors UNKNOWN = new CodeErrors(0, 0, 0, 0);

    /** So many rows are added in any case, and this share of the rows, since learning takes time in proportion to all rows. */
    private static final int MIN_ADDED = 32;

    private static final double MIN_SHARE = .01;
    /** Codes are learned again when the added rows have as much more error than expected as this share of all rows has in sum. */
    private static final double MORE = .5;
    /** Codes that were learned from fewer rows fit these better than others: they are learned again when the table has twice as many rows. */
    private static final int ENOUGH_TRAINED = 5_000;
    /** Updates wait for codes that are being learned if so many rows are added meanwhile. */
    private static final int MIN_WAITING = 64;

    private static final double WAITING_SHARE = .125;
    private static final double MUCH_MORE = 2;
    /** An odd row counts as this many others, or one would have all codes learned again. */
    private static final double MAX_MEANS = 100;

    /** With another added row. */
    public CodeErrors plus(double error) {
        double counted = mean > 0 ? Math.min(error, MAX_MEANS * mean) : error;
        return new CodeErrors(trained, mean, added == Integer.MAX_VALUE ? added : added + 1, sum + counted);
    }

    /** Whether the codes are to be learned again. */
    public boolean areStale(int rows) {
        if (added < MIN_ADDED + MIN_SHARE * rows) {
            return false;
        }
        return trained == 0 ? added >= MORE * rows : isOverfit(rows) || (sum > 0 && excess() >= MORE * mean * rows);
    }

    private boolean isOverfit(int rows) {
        return trained < ENOUGH_TRAINED && rows >= 2L * trained && excess() > 0;
    }

    /** Whether so many rows have codes that hardly stand for them that no more rows should be added. */
    public boolean areUseless(int rows) {
        return trained > 0
                && added >= MIN_WAITING + WAITING_SHARE * rows
                && sum > 0
                && excess() >= MUCH_MORE * mean * rows;
    }

    private double excess() {
        return sum - mean * added;
    }

    boolean isSound() {
        return trained >= 0 && mean >= 0 && added >= 0 && sum >= 0;
    }
}
