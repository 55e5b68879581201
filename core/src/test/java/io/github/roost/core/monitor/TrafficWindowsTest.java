package io.github.roost.core.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TrafficWindowsTest {
    @Test
    void theMonitorSumsOverDomainsAndGrows() {
        TrafficMonitor monitor = new TrafficMonitor(3, 2);
        monitor.ensureCapacity(1);
        monitor.add(0, 0, 10);
        monitor.ensureCapacity(10_000);
        monitor.add(2, 0, 5);
        monitor.addOwn(1, 9_999, 3, 1);
        monitor.add(1, 9_999, 4);
        Traffic totals = monitor.totals(10_000);
        assertThat(totals.bytes()[0]).isEqualTo(15);
        assertThat(totals.searches()[0]).isEqualTo(2);
        assertThat(totals.bytes()[9_999]).isEqualTo(7);
        monitor.clear(0, 1);
        assertThat(monitor.totals(1).bytes()).containsExactly(0);
    }

    @Test
    void theShortWindowIsTheLastDifferenceAndTheLongOneTheSumOfSeveral() {
        TrafficWindows windows = new TrafficWindows(3);
        for (long total : new long[] {10, 30, 60, 100}) {
            windows.endShortWindow(new Traffic(new long[] {total}, new long[] {total / 10}));
        }
        assertThat(windows.shortWindow().bytes()).containsExactly(40);
        assertThat(windows.longWindow().bytes()).containsExactly(20 + 30 + 40);
        assertThat(windows.longWindow().searches()).containsExactly(9);
    }

    @Test
    void slotsMayBeAddedBetweenWindows() {
        TrafficWindows windows = new TrafficWindows(2);
        windows.endShortWindow(new Traffic(new long[] {10}, new long[] {1}));
        windows.endShortWindow(new Traffic(new long[] {15, 7}, new long[] {2, 1}));
        assertThat(windows.shortWindow().bytes()).containsExactly(5, 7);
        assertThat(windows.longWindow().bytes()).containsExactly(15, 7);
    }
}
