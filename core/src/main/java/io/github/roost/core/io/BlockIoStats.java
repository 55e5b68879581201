package io.github.roost.core.io;

/**
 * What block I/O runs on, and counts since it began; those of this moment may be a moment old.
 *
 * @param backend {@code "io_uring"}, or {@code "positional reads"} by a pool of threads
 * @param refusal why there are no rings, empty where there are or none were wanted
 * @param reads of the device that have ended; one of several adjacent blocks counts once
 * @param resubmitted reads that had to go on, since the device returned less than was asked for
 * @param submits calls that told the device of reads; one may tell of many
 * @param inFlight reads under way now
 * @param buffersInUse buffers that reads or slices hold now
 * @param registeredWorkers workers whose buffers the kernel keeps mapped
 */
public record BlockIoStats(
        String backend,
        String refusal,
        long reads,
        long resubmitted,
        long submits,
        int inFlight,
        int buffersInUse,
        int registeredWorkers) {}
