package io.github.roost.io;

/**
 * The backend of block I/O, and counts since its creation; current counts may be slightly out of date.
 *
 * @param backend {@code "io_uring"}, or {@code "positional reads"} by a pool of threads
 * @param refusal why there are no rings; empty if there are, or none were requested
 * @param reads device reads that have ended; a read of several adjacent blocks counts once
 * @param resubmitted reads submitted again, since the device returned fewer bytes than requested or a transient error
 * @param submits calls that submitted reads to the device; one call may submit many reads
 * @param inFlight reads in flight now
 * @param buffersInUse buffers held by reads or slices now
 * @param registeredWorkers workers whose buffers are registered with the kernel
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
