package io.github.roost.rows.service;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides the next step of a rolling update of servers to a version, one replica after the other, such that some version is complete at all times. A
 * pure function of the observed servers: a coordinator does the step, looks again, and asks again. Stateless.
 *
 * <p>The servers of one group together have one replica of every shard. A group loads the new version, then unloads its previous version. So only one
 * of n groups has two versions at a time, and memory is (n+1)/n of one version's, unless the target changes during the update. A version is unloaded
 * from a group only if another group has it complete, or if the new version has been complete in the required number of groups for longer than any
 * client waits.
 */
public final class RollingUpdate {
    private RollingUpdate() {}

    /**
     * The observed state of a server.
     *
     * @param name the server's name
     * @param group the replica that it is a part of, from 0
     * @param ordinal its index in its group, from 0
     * @param isAlive whether it answers
     * @param versions the shards that it has, by version
     */
    public record Server(String name, int group, int ordinal, boolean isAlive, Map<Long, Served> versions) {}

    /**
     * The target of the update.
     *
     * @param version the version that all servers are to have
     * @param shards its number of shards
     * @param minGroups the number of groups in which it must be complete before the last replica of another version may be unloaded, 1 or more; all
     *     groups if there are fewer
     * @param graceNanos for how long it must have been complete there; longer than a client waits for a batch
     */
    public record Target(long version, int shards, int minGroups, long graceNanos) {}

    /** The next step of the update. */
    public sealed interface Step {
        /**
         * A server is to load shards of a version.
         *
         * @param server the server's name
         * @param version the version to load
         * @param served the shards to load
         */
        record Load(String server, long version, Served served) implements Step {}

        /**
         * A server is to unload a version.
         *
         * @param server the server's name
         * @param version the version to unload
         */
        record Unload(String server, long version) implements Step {}

        /**
         * Nothing can be done now.
         *
         * @param reason the reason, for people
         */
        record Wait(String reason) implements Step {}

        /** All servers have the version, and no other. */
        record Done() implements Step {}
    }

    /**
     * The shards of a server. Groups of the same size have the same assignment.
     *
     * @param servers the number of servers in the group
     * @param ordinal the server's index in the group, from 0
     * @param shards the version's number of shards
     * @return every {@code servers}-th shard, from {@code ordinal} on
     */
    public static Served shardsAt(int servers, int ordinal, int shards) {
        Set<Integer> here = new HashSet<>();
        for (int shard = ordinal; shard < shards; shard += servers) {
            here.add(shard);
        }
        return new Served(shards, here);
    }

    /**
     * The next step.
     *
     * @param servers all servers, including servers that do not answer
     * @param target the target of the update
     * @param settledNanos for how long the target has been complete in the required number of groups; 0 if it is not
     * @return the step
     */
    public static Step next(List<Server> servers, Target target, long settledNanos) {
        Step kept = null;
        for (int group : new TreeSet<>(servers.stream().map(Server::group).toList())) {
            List<Server> members = servers.stream()
                    .filter(server -> server.group() == group)
                    .sorted(Comparator.comparingInt(Server::ordinal))
                    .toList();
            Step step = next(servers, group, members, target, settledNanos);
            if (step instanceof Step.Wait && hasAll(members, target.version())) {
                // The group may unload its other versions only after other groups have progressed.
                kept = kept == null ? step : kept;
            } else if (step != null) {
                return step;
            }
        }
        return kept == null ? new Step.Done() : kept;
    }

    private static @Nullable Step next(
            List<Server> all, int group, List<Server> members, Target target, long settledNanos) {
        for (Server server : members) {
            Served wanted = shardsAt(members.size(), server.ordinal(), target.shards());
            Served has = server.versions().get(target.version());
            boolean hasIt = has != null && wanted.hasShardsOf(has);
            if (!server.isAlive()) {
                return doesNotAnswer(server);
            }
            if (!hasIt) {
                return server.versions().size() < 2
                        ? new Step.Load(server.name(), target.version(), wanted)
                        : makeRoom(all, group, members, server, target, settledNanos);
            }
        }
        for (Server server : members) {
            Step unload = unload(all, group, server, target, settledNanos);
            if (unload != null) {
                return unload;
            }
        }
        return null;
    }

    /**
     * Unloads one of two versions neither of which is the target, as the target changed during an update, maybe twice. It is a version that the group
     * does not have complete, otherwise the older one: so the group keeps a complete version if it had one.
     */
    private static Step makeRoom(
            List<Server> all, int group, List<Server> members, Server server, Target target, long settledNanos) {
        for (Server member : members) {
            if (!member.isAlive()) {
                // Which versions the group has complete is unknown.
                return doesNotAnswer(member);
            }
        }
        long given = server.versions().keySet().stream()
                .filter(version -> version != target.version())
                .min(Comparator.comparing((Long version) -> hasAll(members, version))
                        .thenComparing(Comparator.naturalOrder()))
                .orElseThrow();
        boolean hasOther =
                server.versions().keySet().stream().anyMatch(version -> version != given && hasAll(members, version));
        boolean isOtherElsewhere = all.stream()
                .flatMap(other -> other.versions().keySet().stream())
                .anyMatch(version -> version != given && isElsewhere(all, group, version));
        if (hasOther || isOtherElsewhere || isElsewhere(all, group, given) || isSettled(all, target, settledNanos)) {
            return new Step.Unload(server.name(), given);
        }
        return new Step.Wait("version " + given + " is complete in no other group than " + group);
    }

    private static Step doesNotAnswer(Server server) {
        return new Step.Wait("server " + server.name() + " does not answer");
    }

    /** Unloads versions other than the target, the oldest first; null if the server has none. */
    private static @Nullable Step unload(List<Server> all, int group, Server server, Target target, long settledNanos) {
        Long old = server.versions().keySet().stream()
                .filter(version -> version != target.version())
                .min(Comparator.naturalOrder())
                .orElse(null);
        if (old == null) {
            return null;
        }
        if (isElsewhere(all, group, old) || isSettled(all, target, settledNanos)) {
            return new Step.Unload(server.name(), old);
        }
        return new Step.Wait("version " + old + " is complete in no other group than " + group);
    }

    private static boolean isElsewhere(List<Server> all, int group, long version) {
        return groupsWith(all, version, other -> other != group) > 0;
    }

    private static boolean isSettled(List<Server> all, Target target, long settledNanos) {
        return isComplete(all, target) && settledNanos >= target.graceNanos();
    }

    /**
     * Whether a version is complete in the required number of groups.
     *
     * @param servers all servers
     * @param target the version and the number of groups
     * @return whether that many groups have the version complete, with all their servers answering
     */
    public static boolean isComplete(List<Server> servers, Target target) {
        long groups = servers.stream().mapToInt(Server::group).distinct().count();
        return groupsWith(servers, target.version(), group -> true) >= Math.min(groups, target.minGroups());
    }

    private static long groupsWith(List<Server> all, long version, Predicate<Integer> which) {
        return all.stream()
                .map(Server::group)
                .distinct()
                .filter(which)
                .filter(group -> hasAll(
                        all.stream().filter(server -> server.group() == group).toList(), version))
                .count();
    }

    private static boolean hasAll(List<Server> members, long version) {
        Served any = members.getFirst().versions().get(version);
        return any != null
                && members.stream()
                        .allMatch(server -> server.isAlive()
                                && shardsAt(members.size(), server.ordinal(), any.shards())
                                        .of(any.content())
                                        .equals(server.versions().get(version)));
    }
}
