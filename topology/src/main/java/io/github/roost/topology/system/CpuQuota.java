package io.github.roost.topology.system;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * The CPU quota of this process: the CPU time that Linux's control groups grant it, as set by {@code docker run --cpus} or the limit of a
 * Kubernetes container. Read from the groups' files, since {@code Runtime.availableProcessors()} counts the calling thread's mask too.
 * Thread-safe.
 */
public final class CpuQuota {
    private CpuQuota() {}

    /**
     * Reads the quota.
     *
     * @return the CPUs whose time may be used, rounded up, at least 1: the least of the process's group and of those that hold it; empty if
     *     there is no quota, or it cannot be read
     */
    public static OptionalInt cpus() {
        return cpus(Path.of("/"));
    }

    /** As {@link #cpus()}, of the files under another root. */
    static OptionalInt cpus(Path root) {
        Path mounts = root.resolve("sys/fs/cgroup");
        try {
            return Files.readAllLines(root.resolve("proc/self/cgroup")).stream()
                    .flatMap(line -> groups(mounts, line))
                    .flatMapToInt(group -> ofGroup(group).stream())
                    .min();
        } catch (IOException | UncheckedIOException | SecurityException | IllegalArgumentException unreadable) {
            return OptionalInt.empty();
        }
    }

    /**
     * The folders of a group and of those that hold it.
     *
     * @param line {@code hierarchy:controllers:group}; version 2 names no controllers
     */
    private static Stream<Path> groups(Path mounts, String line) {
        List<String> fields = List.of(line.split(":", 3));
        if (fields.size() < 3) {
            return Stream.empty();
        }
        List<String> controllers = List.of(fields.get(1).split(","));
        Path mount;
        if (controllers.contains("cpu")) {
            mount = mounts.resolve("cpu");
        } else if (controllers.contains("")) {
            mount = mounts;
        } else {
            return Stream.empty();
        }
        // In a container the path may be the host's, or lead out of what is mounted: then the mount itself is the
        // group.
        Path group = mount.resolve(fields.get(2).replaceFirst("^/+", "")).normalize();
        return Stream.iterate(
                group.startsWith(mount) ? group : mount,
                folder -> folder.startsWith(mount),
                folder -> folder.resolve("..").normalize());
    }

    private static OptionalInt ofGroup(Path group) {
        List<String> quota;
        try {
            Path both = group.resolve("cpu.max");
            Path microseconds = group.resolve("cpu.cfs_quota_us");
            if (Files.exists(both)) {
                quota = List.of(Files.readString(both).strip().split(" "));
            } else if (Files.exists(microseconds)) {
                quota = List.of(
                        Files.readString(microseconds).strip(),
                        Files.readString(group.resolve("cpu.cfs_period_us")).strip());
            } else {
                return OptionalInt.empty();
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        // Version 2 writes "max" for no quota, version 1 writes -1.
        if (quota.size() != 2 || quota.getFirst().equals("max")) {
            return OptionalInt.empty();
        }
        long time = Long.parseLong(quota.getFirst());
        long period = Long.parseLong(quota.getLast());
        return time <= 0 || period <= 0
                ? OptionalInt.empty()
                : OptionalInt.of((int) Math.min(Integer.MAX_VALUE, Math.ceilDiv(time, period)));
    }
}
