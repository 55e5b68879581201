package io.github.roost.examples.demo;

import java.util.List;

/**
 * Where a worker sits, as the kernel reports it of the thread itself ({@code /proc/self/task/TID/status}).
 *
 * @param worker index
 * @param domain its cache domain
 * @param core id of its core
 * @param asked OS numbers of the PUs that it was to be pinned to
 * @param tid the kernel's number of its thread, -1 where the kernel does not say
 * @param allowed the CPUs that the kernel lets it run on, as {@code Cpus_allowed_list} has them; empty if unknown
 * @param note why it is not pinned, empty when it is
 */
public record WorkerPosition(
        int worker, int domain, int core, List<Integer> asked, long tid, String allowed, String note) {}
