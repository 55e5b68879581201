package io.github.roost.cli.demo;

import java.util.List;

/**
 * The position of a worker, as reported by the kernel for its thread ({@code /proc/self/task/TID/status}).
 *
 * @param worker index
 * @param domain its cache domain
 * @param core id of its core
 * @param requested OS numbers of the PUs that it should be pinned to
 * @param tid the kernel's id of its thread, -1 if unknown
 * @param allowed the CPUs that the kernel lets it run on, in the format of {@code Cpus_allowed_list}; empty if unknown
 * @param note why it is not pinned; empty if it is
 */
public record WorkerPosition(
        int worker, int domain, int core, List<Integer> requested, long tid, String allowed, String note) {}
