package io.github.roost.rows.service;

import io.github.roost.rows.service.RollingUpdate.Step;
import io.github.roost.rows.service.RollingUpdate.Target;
import io.github.roost.rows.service.VirtualServer.Order;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * A coordinator that rolls out one version by messages alone, like {@code Coordinator}: it looks at all servers, orders the next step of
 * {@link RollingUpdate}, and looks again when the step is done, refused, or timed out. A server that does not answer a look counts as dead if
 * another server of its group answers, else as absent. Not thread-safe.
 */
final class VirtualCoordinator {
    private static final long LOOK_DEADLINE = 200 * VirtualNetwork.MILLI;
    private static final long UNLOAD_DEADLINE = 500 * VirtualNetwork.MILLI;
    private static final long LOAD_DEADLINE = 2 * VirtualNetwork.SECOND;
    private static final long PAUSE = 200 * VirtualNetwork.MILLI;

    private final long term;
    private final Target target;
    private final List<VirtualServer> servers;
    private final VirtualNetwork network;
    private final Wires wires;
    private final LongSupplier termInCharge;
    private final Watch watch;
    private boolean isOver;
    /** The number of the current wait; answers to earlier rounds are ignored. */
    private long round;

    private long settledSince = -1;

    /** The traffic of coordinators, by kind of message. */
    record Wires(VirtualNetwork.Traffic looks, VirtualNetwork.Traffic loads, VirtualNetwork.Traffic unloads) {}

    /** Observes a coordinator. */
    interface Watch {
        void sent(VirtualServer server, Order order);

        /** The version is complete in enough groups; the coordinator waits for the grace period. */
        void settling();

        void rolled();
    }

    VirtualCoordinator(
            long term,
            Target target,
            List<VirtualServer> servers,
            VirtualNetwork network,
            Wires wires,
            LongSupplier termInCharge,
            Watch watch) {
        this.term = term;
        this.target = target;
        this.servers = servers;
        this.network = network;
        this.wires = wires;
        this.termInCharge = termInCharge;
        this.watch = watch;
    }

    boolean isOver() {
        return isOver;
    }

    void kill() {
        isOver = true;
    }

    /** Looks at the servers, and continues until the coordinator is killed, replaced, or done. */
    void look() {
        long of = ++round;
        Map<String, ServerView> views = new TreeMap<>();
        for (VirtualServer server : servers) {
            network.send(wires.looks, () -> {
                if (server.isAlive()) {
                    ServerView view = server.look(term);
                    network.send(wires.looks, () -> {
                        if (isWaitedFor(of) && views.put(server.name, view) == null && views.size() == servers.size()) {
                            decide(views);
                        }
                    });
                }
            });
        }
        network.after(LOOK_DEADLINE, () -> {
            if (isWaitedFor(of)) {
                decide(views);
            }
        });
    }

    private boolean isWaitedFor(long of) {
        return !isOver && round == of;
    }

    private void decide(Map<String, ServerView> views) {
        round++;
        if (termInCharge.getAsLong() != term) {
            isOver = true;
            return;
        }
        List<RollingUpdate.Server> seen = seen(views);
        boolean isComplete = !seen.isEmpty() && RollingUpdate.isComplete(seen, target);
        if (!isComplete) {
            settledSince = -1;
        } else if (settledSince < 0) {
            settledSince = network.now();
        }
        Step step = seen.isEmpty()
                ? new Step.Wait("no server answers")
                : RollingUpdate.next(seen, target, isComplete ? network.now() - settledSince : 0);
        switch (step) {
            case Step.Load load -> order(load.server(), new Order(term, load.version(), load.served(), false));
            case Step.Unload unload -> {
                ServerView has = views.get(unload.server());
                boolean makesRoom = has != null && !has.versions().containsKey(target.version());
                order(unload.server(), new Order(term, unload.version(), null, makesRoom));
            }
            case Step.Wait wait -> {
                network.after(PAUSE, this::resume);
                if (isComplete) {
                    watch.settling();
                }
            }
            case Step.Done done -> {
                isOver = true;
                watch.rolled();
            }
        }
    }

    private List<RollingUpdate.Server> seen(Map<String, ServerView> views) {
        List<RollingUpdate.Server> seen = new ArrayList<>();
        for (VirtualServer server : servers) {
            ServerView view = views.get(server.name);
            boolean isGroupSeen =
                    servers.stream().anyMatch(other -> other.group == server.group && views.containsKey(other.name));
            if (isGroupSeen) {
                seen.add(new RollingUpdate.Server(
                        server.name,
                        server.group,
                        server.ordinal,
                        view != null,
                        view == null ? Map.of() : view.versions()));
            }
        }
        return seen;
    }

    private void order(String name, Order order) {
        VirtualServer server = servers.stream()
                .filter(any -> any.name.equals(name))
                .findFirst()
                .orElseThrow();
        VirtualNetwork.Traffic wire = order.isLoad() ? wires.loads : wires.unloads;
        long of = ++round;
        network.send(wire, () -> {
            if (server.isAlive()) {
                server.order(
                        order,
                        isObeyed -> network.send(wire, () -> {
                            if (isWaitedFor(of)) {
                                round++;
                                network.after(isObeyed ? 0 : PAUSE, this::resume);
                            }
                        }));
            }
        });
        network.after(order.isLoad() ? LOAD_DEADLINE : UNLOAD_DEADLINE, () -> {
            if (isWaitedFor(of)) {
                resume();
            }
        });
        watch.sent(server, order);
    }

    private void resume() {
        if (!isOver) {
            look();
        }
    }
}
