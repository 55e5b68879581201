package io.github.roost.tableservice;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What to do next to bring servers to a version, one replica of all shards after the other, while some version is complete all the time. A
 * pure function of what is seen: a coordinator does the step, looks again, and asks again. Stateless.
 *
 * <p>Servers of one group together have one replica of every shard. A group loads the new version, then unloads what it had before; so of
 * n groups one has two versions, and memory is (n+1)/n of what one version takes, unless the target changes in the midst. A version is unloaded from a group only if another
 * group has it complete, or if the new one is complete in as many groups as asked for and has been for longer than any client waits.
 */
public final class RollingUpdate {
    private RollingUpdate() {}

    /**
     * A server as it is seen.
     *
     * @param name its name
     * @param group which replica it is a part of, from 0
     * @param ordinal which of the servers of its group it is, from 0
     * @param isAlive whether it answers
     * @param versions what it has
     */
    public record Server(String name, int group, int ordinal, boolean isAlive, Map<Long, Served> versions) {}

    /**
     * What is to be.
     *
     * @param version to bring all servers to
     * @param shards of it
     * @param leastGroups in how many groups it must be complete before the last replica of another version may go, 1 or more; all groups
     *     do if there are fewer
     * @param graceNanos for how long it must have been so: longer than a client waits for a batch
     */
    public record Target(long version, int shards, int leastGroups, long graceNanos) {}

    /** What to do. */
    public sealed interface Step {
        /**
         * A server is to load shards of a version.
         *
         * @param server its name
         * @param version to load
         * @param served which shards of how many
         */
        record Load(String server, long version, Served served) implements Step {}

        /**
         * A server is to give up a version.
         *
         * @param server its name
         * @param version to unload
         */
        record Unload(String server, long version) implements Step {}

        /**
         * Nothing can be done now.
         *
         * @param reason why
         */
        record Wait(String reason) implements Step {}

        /** All servers have the version, and no other. */
        record Done() implements Step {}
    }

    /**
     * Which shards are at a server: the same for all groups of as many servers.
     *
     * @param servers of the group
     * @param ordinal of the server, from 0
     * @param shards of the version
     * @return every {@code servers}-th shard
     */
    public static Served shardsAt(int servers, int ordinal, int shards) {
        Set<Integer> here = new HashSet<>();
        for (int shard = ordinal; shard < shards; shard += servers) {
            here.add(shard);
        }
        return new Served(shards, here);
    }

    /**
     * What to do next.
     *
     * @param servers all that there are, those that do not answer too
     * @param target what is to be
     * @param settledNanos for how long the target has been complete in as many groups as asked for; 0 if it is not
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
                // What it still has may go only after other groups have got on.
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
            boolean hasIt = wanted.equals(server.versions().get(target.version()));
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
     * Gives up one of two versions neither of which is the target: that has changed in the midst of a roll, maybe twice. It is one that this group does not have complete, or the older
     * one: so the group has a version complete as before, whatever becomes of others.
     */
    private static Step makeRoom(
            List<Server> all, int group, List<Server> members, Server server, Target target, long settledNanos) {
        for (Server member : members) {
            if (!member.isAlive()) {
                // What the group has complete is not known.
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

    /** Gives up what is not the target, oldest first; null if the server has nothing else. */
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
     * Whether a version is complete in as many groups as are asked for.
     *
     * @param servers all that there are
     * @param target the version and the number of groups
     * @return whether so many groups have it, all servers of which answer
     */
    public static boolean isComplete(List<Server> servers, Target target) {
        long groups = servers.stream().mapToInt(Server::group).distinct().count();
        return groupsWith(servers, target.version(), group -> true) >= Math.min(groups, target.leastGroups());
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
                                        .equals(server.versions().get(version)));
    }
}
