package io.github.roost.simulator;

import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import java.util.List;

/**
 * The result of a simulation, after its warm-up.
 *
 * @param policy its name
 * @param domains cache domains
 * @param cores cores
 * @param searches number of completed searches
 * @param seconds of virtual time
 * @param utilization busy time of the cores as a share of all time
 * @param l3MissRatio lines missing in L3, as a share of the lines looked up there
 * @param l2HitRatio lines found in the reader's L2, as a share of all lines
 * @param stallShare time waiting for caches and memory, as a share of busy time
 * @param dramGBs read from memory, 10<sup>9</sup> bytes per second
 * @param intraSteals tasks stolen inside a domain
 * @param crossSteals tasks stolen across domains
 * @param remaps mappings published
 * @param movedMib warm traffic that the remaps moved
 * @param latencies of all searches
 * @param tables by table
 * @param windows after the warm-up
 */
public record SimResult(
        String policy,
        int domains,
        int cores,
        long searches,
        double seconds,
        double utilization,
        double l3MissRatio,
        double l2HitRatio,
        double stallShare,
        double dramGBs,
        long intraSteals,
        long crossSteals,
        long remaps,
        double movedMib,
        Latencies latencies,
        List<Table> tables,
        List<Window> windows) {
    /** The latencies of one table's searches. */
    public record Table(String name, Latencies latencies) {}

    /**
     * One window.
     *
     * @param perSecond searches per second
     * @param imbalance max load of a domain over the mean
     * @param l3MissRatio lines missing in L3, as a share of the lines looked up there
     * @param remaps mappings published so far
     * @param meanMicros mean latency of its searches in microseconds
     */
    public record Window(double perSecond, double imbalance, double l3MissRatio, long remaps, double meanMicros) {}

    /** Returns a copy without tables and windows. */
    public SimResult withoutDetails() {
        return new SimResult(
                policy,
                domains,
                cores,
                searches,
                seconds,
                utilization,
                l3MissRatio,
                l2HitRatio,
                stallShare,
                dramGBs,
                intraSteals,
                crossSteals,
                remaps,
                movedMib,
                latencies,
                List.of(),
                List.of());
    }

    /** Searches per second. */
    public double perSecond() {
        return searches / seconds;
    }

    /** Busy time of all cores per search, in microseconds. */
    public double busyMicros() {
        return utilization * cores * seconds * 1e6 / searches;
    }

    /** The max load of a domain over the mean, in the median window; 1 if no window ended. */
    public double medianImbalance() {
        return windows.isEmpty()
                ? 1
                : Samples.of(windows.stream().map(Window::imbalance).toList()).median();
    }

    /** Steals across domains as a share of all steals; 0 if there are none. */
    public double crossShare() {
        long steals = intraSteals + crossSteals;
        return steals == 0 ? 0 : (double) crossSteals / steals;
    }
}
