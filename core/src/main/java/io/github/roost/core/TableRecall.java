package io.github.roost.core;

/**
 * The recall of a table's searches in production, measured with exact repetitions of some of them in idle time.
 *
 * @param recall mean recall of the latest searches that were repeated, from 0 to 1
 * @param low lower end of its 95 % confidence interval
 * @param high upper end of its 95 % confidence interval
 * @param window number of searches that these three are of, from 1 to 200
 * @param samples number of searches repeated since the table was opened
 * @param k mean k of the searches in the window
 * @param alarm whether the recall is under {@link Orchestrator.Builder#recallAlarm}
 */
public record TableRecall(double recall, double low, double high, int window, long samples, double k, boolean alarm) {}
