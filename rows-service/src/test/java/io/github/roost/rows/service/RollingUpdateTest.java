package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.rows.service.RollingUpdate.Server;
import io.github.roost.rows.service.RollingUpdate.Step;
import io.github.roost.rows.service.RollingUpdate.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RollingUpdateTest {
    private static final long GRACE = 10;

    private static List<Server> serving(int groups, int perGroup, long version, int shards) {
        List<Server> servers = new ArrayList<>();
        for (int group = 0; group < groups; group++) {
            for (int ordinal = 0; ordinal < perGroup; ordinal++) {
                servers.add(new Server(
                        group + "-" + ordinal,
                        group,
                        ordinal,
                        true,
                        Map.of(version, RollingUpdate.shardsAt(perGroup, ordinal, shards))));
            }
        }
        return servers;
    }

    private static List<Server> with(List<Server> servers, String name, Map<Long, Served> versions, boolean isAlive) {
        return servers.stream()
                .map(server -> server.name().equals(name)
                        ? new Server(name, server.group(), server.ordinal(), isAlive, versions)
                        : server)
                .toList();
    }

    private static Server named(List<Server> servers, String name) {
        return servers.stream()
                .filter(server -> server.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static List<Server> after(List<Server> servers, Step step) {
        return switch (step) {
            case Step.Load load -> {
                Map<Long, Served> versions =
                        new HashMap<>(named(servers, load.server()).versions());
                versions.put(load.version(), load.served());
                yield with(servers, load.server(), versions, true);
            }
            case Step.Unload unload -> {
                Map<Long, Served> versions =
                        new HashMap<>(named(servers, unload.server()).versions());
                versions.remove(unload.version());
                yield with(servers, unload.server(), versions, true);
            }
            case Step.Wait wait -> servers;
            case Step.Done done -> servers;
        };
    }

    private static boolean isAnyComplete(List<Server> servers) {
        KnownServers known = new KnownServers();
        known.setServers(servers.stream().map(Server::name).toList());
        servers.stream()
                .filter(Server::isAlive)
                .forEach(server -> known.learn(new ServerView(server.name(), 1, server.versions())));
        return known.newest(0) != null;
    }

    private static void assertAnyCompleteWithoutAnyOne(List<Server> servers) {
        for (Server lost : servers) {
            assertThat(isAnyComplete(with(servers, lost.name(), lost.versions(), false)))
                    .as(servers + " without " + lost.name())
                    .isTrue();
        }
    }

    @Test
    void noRoomIsMadeWhileAServerOfTheGroupDoesNotAnswer() {
        List<Server> servers = serving(2, 2, 1, 2);
        servers = after(servers, RollingUpdate.next(servers, new Target(2, 2, 2, GRACE), 0));
        Target last = new Target(3, 2, 2, GRACE);
        List<Server> without = with(servers, "0-1", named(servers, "0-1").versions(), false);
        assertThat(RollingUpdate.next(without, last, 0)).isEqualTo(new Step.Wait("server 0-1 does not answer"));
        // Version 1 is all that the group has of any.
        assertThat(RollingUpdate.next(servers, last, 0)).isEqualTo(new Step.Unload("0-0", 2));
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 1", "1, 2, 3", "2, 1, 1", "2, 2, 4", "3, 2, 5", "4, 3, 7"})
    void aVersionIsCompleteAtEveryStepWhateverOneServerIsLost(int groups, int perGroup, int shards) {
        Target target = new Target(2, shards + 1, 2, GRACE);
        List<Server> servers = serving(groups, perGroup, 1, shards);
        int max = 0;
        long settled = 0;
        int steps = 0;
        for (Step step = RollingUpdate.next(servers, target, 0);
                !(step instanceof Step.Done);
                step = RollingUpdate.next(servers, target, settled)) {
            servers = after(servers, step);
            settled = RollingUpdate.isComplete(servers, target) ? settled + 1 : 0;
            assertThat(isAnyComplete(servers)).isTrue();
            if (groups > 1) {
                assertAnyCompleteWithoutAnyOne(servers);
            }
            max = Math.max(
                    max,
                    servers.stream()
                            .mapToInt(server -> server.versions().size())
                            .sum());
            assertThat(steps++).isLessThan(1_000);
        }
        assertThat(servers).isEqualTo(serving(groups, perGroup, 2, shards + 1));
        // n + 1 groups' worth of n.
        assertThat(max).isLessThanOrEqualTo((groups + 1) * perGroup);
    }

    @Test
    void theLastReplicaOfAVersionWaitsForItsClients() {
        Target target = new Target(2, 2, 2, GRACE);
        List<Server> servers = serving(2, 1, 1, 2);
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            steps.add(RollingUpdate.next(servers, target, 0));
            servers = after(servers, steps.getLast());
        }
        Served all = RollingUpdate.shardsAt(1, 0, 2);
        assertThat(steps)
                .containsExactly(
                        new Step.Load("0-0", 2, all),
                        new Step.Unload("0-0", 1),
                        new Step.Load("1-0", 2, all),
                        new Step.Wait("version 1 is complete in no other group than 1"));
        assertThat(RollingUpdate.next(servers, target, GRACE - 1)).isInstanceOf(Step.Wait.class);
        assertThat(RollingUpdate.next(servers, target, GRACE)).isEqualTo(new Step.Unload("1-0", 1));
    }

    @Test
    void aServerThatDoesNotAnswerHoldsTheRollUp() {
        List<Server> servers = serving(2, 2, 1, 2);
        List<Server> without = with(servers, "0-1", named(servers, "0-1").versions(), false);
        Target target = new Target(2, 2, 2, GRACE);
        List<Server> loaded = after(without, RollingUpdate.next(without, target, 0));
        assertThat(RollingUpdate.next(loaded, target, 0)).isEqualTo(new Step.Wait("server 0-1 does not answer"));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void aTargetThatChangesTwiceInTheMidstIsReachedWhateverOneServerIsLost(int groups) {
        for (int first = 0; first < 14; first++) {
            for (int second = 0; second < 14; second++) {
                List<Server> servers = serving(groups, 2, 1, 3);
                for (int i = 0; i < first; i++) {
                    servers = after(servers, RollingUpdate.next(servers, new Target(2, 5, 2, GRACE), 0));
                }
                for (int i = 0; i < second; i++) {
                    servers = after(servers, RollingUpdate.next(servers, new Target(3, 3, 2, GRACE), 0));
                    assertAnyCompleteWithoutAnyOne(servers);
                }
                Target last = new Target(4, 4, 2, GRACE);
                long settled = 0;
                for (int i = 0; i < 100; i++) {
                    servers = after(servers, RollingUpdate.next(servers, last, settled));
                    settled = RollingUpdate.isComplete(servers, last) ? settled + 1 : 0;
                    assertAnyCompleteWithoutAnyOne(servers);
                    assertThat(servers).allMatch(server -> server.versions().size() <= 2);
                }
                assertThat(servers).as(first + " steps, then " + second).isEqualTo(serving(groups, 2, 4, 4));
            }
        }
    }
}
