package io.github.roost.core.monitor;

import io.github.roost.core.mapping.Traffic;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Two sliding views of a monitor's totals: the short window sees changes, the long one, a whole number of short ones,
 * sees trends. Fed at the end of every short window. Not thread-safe: the mapper's thread owns it.
 */
public final class TrafficWindows {
    private final int shortPerLong;
    private final Deque<Traffic> recent = new ArrayDeque<>();
    private Traffic lastTotals = Traffic.none(0);
    private Traffic longWindow = Traffic.none(0);

    /**
     * Windows without traffic.
     *
     * @param shortPerLong how many short windows make the long one, at least 1
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
     * @param totals the monitor's totals at this moment
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

    /** {@return the traffic of the last long window, or of as many short ones as have ended} */
    public Traffic longWindow() {
        return longWindow;
    }

    /**
     * Forgets what slots did, for their next owner.
     *
     * @param from the first
     * @param to the last, exclusive
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
