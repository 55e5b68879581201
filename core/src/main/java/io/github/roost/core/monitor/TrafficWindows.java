package io.github.roost.core.monitor;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The short and the long window of a monitor's totals. The short window shows changes; the long one, a whole number of
 * short windows, shows trends. Updated at the end of every short window. Not thread-safe: guarded by the mapper.
 */
public final class TrafficWindows {
    private final int shortPerLong;
    private final Deque<Traffic> recent = new ArrayDeque<>();
    private Traffic lastTotals = Traffic.none(0);
    private Traffic longWindow = Traffic.none(0);

    /**
     * Creates windows without traffic.
     *
     * @param shortPerLong number of short windows in the long one, at least 1
     */
    public TrafficWindows(int shortPerLong) {
        if (shortPerLong < 1) {
            throw new IllegalArgumentException(
                    "the long window must hold at least 1 short window, got " + shortPerLong);
        }
        this.shortPerLong = shortPerLong;
    }

    /**
     * Ends a short window.
     *
     * @param totals the monitor's present totals
     */
    public void endShortWindow(Traffic totals) {
        recent.addLast(totals.since(lastTotals));
        lastTotals = totals;
        if (recent.size() > shortPerLong) {
            recent.removeFirst();
        }
        longWindow = recent.stream().reduce(Traffic.none(0), Traffic::plus);
    }

    /** {@return the traffic of the short window that ended last} */
    public Traffic shortWindow() {
        return recent.isEmpty() ? Traffic.none(0) : recent.getLast();
    }

    /** {@return the traffic of the last long window, or of all short windows if fewer have ended} */
    public Traffic longWindow() {
        return longWindow;
    }

    /**
     * Resets slots to zero for their next owner.
     *
     * @param from the first slot
     * @param to the slot after the last
     */
    public void clear(int from, int to) {
        recent.forEach(window -> clear(window, from, to));
        clear(lastTotals, from, to);
        clear(longWindow, from, to);
    }

    private static void clear(Traffic traffic, int from, int to) {
        for (int slot = from; slot < Math.min(to, traffic.slots()); slot++) {
            traffic.bytes()[slot] = 0;
            traffic.searches()[slot] = 0;
        }
    }
}
