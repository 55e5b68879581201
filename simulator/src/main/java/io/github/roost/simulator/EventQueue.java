package io.github.roost.simulator;

import java.util.Arrays;

/** A priority queue of events, ordered by time, then by insertion. A binary heap. Not thread-safe. */
final class EventQueue {
    private double[] times = new double[256];
    private long[] numbers = new long[256];
    private int[] events = new int[256];
    private int size;
    private long added;

    void add(double time, int event) {
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
            numbers = Arrays.copyOf(numbers, 2 * size);
            events = Arrays.copyOf(events, 2 * size);
        }
        int at = size++;
        long number = added++;
        while (at > 0) {
            int parent = (at - 1) / 2;
            if (isBefore(times[parent], numbers[parent], time, number)) {
                break;
            }
            move(parent, at);
            at = parent;
        }
        put(at, time, number, event);
    }

    /** The time of the next event. */
    double time() {
        return times[0];
    }

    /** Removes and returns the next event. */
    int take() {
        int first = events[0];
        size--;
        double time = times[size];
        long number = numbers[size];
        int event = events[size];
        int at = 0;
        while (true) {
            int child = 2 * at + 1;
            if (child >= size) {
                break;
            }
            if (child + 1 < size && isBefore(times[child + 1], numbers[child + 1], times[child], numbers[child])) {
                child++;
            }
            if (isBefore(time, number, times[child], numbers[child])) {
                break;
            }
            move(child, at);
            at = child;
        }
        put(at, time, number, event);
        return first;
    }

    private static boolean isBefore(double time, long number, double otherTime, long otherNumber) {
        return time < otherTime || (time == otherTime && number < otherNumber);
    }

    private void move(int from, int to) {
        put(to, times[from], numbers[from], events[from]);
    }

    private void put(int at, double time, long number, int event) {
        times[at] = time;
        numbers[at] = number;
        events[at] = event;
    }
}
