package io.github.roost.core;

import java.lang.management.ManagementFactory;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import jdk.management.VirtualThreadSchedulerMXBean;

/** A program whose first use of the JVM's own pools is inside a search. Its last line is the parallelism of each, and the number of CPUs. */
final class JvmPools {
    private JvmPools() {}

    @SuppressWarnings("SystemOut") // it is how a program answers
    public static void main(String[] arguments) throws Exception {
        int cpus = Runtime.getRuntime().availableProcessors();
        Callable<Integer> first = () -> {
            Thread.ofVirtual().start(() -> {}).join();
            return ForkJoinPool.commonPool().getParallelism();
        };
        int common;
        try (Orchestrator orchestrator = Orchestrator.builder().build()) {
            common = orchestrator
                    .submit(
                            (query, context) -> first.call(),
                            "query",
                            orchestrator.register("table").id())
                    .get(30, TimeUnit.SECONDS);
        }
        VirtualThreadSchedulerMXBean scheduler =
                ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
        System.out.println("scheduler " + scheduler.getParallelism() + " common " + common + " cpus " + cpus);
    }
}
