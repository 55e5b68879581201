package io.github.roost.index.remote;

import io.github.roost.index.remote.format.PoolHead;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Providers of two nodes that count the writes to both together, those of holds excepted, and lose a node, the writer, or both at one of them:
 * what is lost answers no more. Of a put that the loss meets, a part may arrive.
 */
final class TwoNodes {
    private final Node[] nodes;
    private int step;
    private Loss loss = new Loss(Integer.MAX_VALUE, 0, false, false);
    private Runnable stop = () -> {};

    /**
     * What happens at a write.
     *
     * @param step number of the write, from 1
     * @param node 0 or 1; -1 for none
     * @param withWriter whether the writer dies too: then neither node answers it any more
     * @param arrives whether the write is done, without an answer
     */
    record Loss(int step, int node, boolean withWriter, boolean arrives) {}

    TwoNodes(RemoteMemory first, RemoteMemory second) {
        nodes = new Node[] {new Node(first, 0), new Node(second, 1)};
    }

    RemoteMemory first() {
        return nodes[0];
    }

    RemoteMemory second() {
        return nodes[1];
    }

    /** Counts from 1 from now on. */
    synchronized void lose(Loss what) {
        step = 0;
        loss = what;
    }

    /** Counts from 1 from now on, and runs this before one of the writes, in the writer's thread. */
    synchronized void stopBefore(int number, Runnable action) {
        lose(new Loss(number, -1, false, false));
        stop = action;
    }

    /** Loses a node at once. */
    void lose(int node) {
        nodes[node].lost = true;
    }

    private synchronized boolean isMet() {
        return ++step == loss.step();
    }

    private final class Node extends DelegatingMemory {
        private final int number;
        private volatile boolean lost;

        Node(RemoteMemory memory, int number) {
            super(memory);
            this.number = number;
        }

        @Override
        RemoteMemory.Region changed(RemoteMemory.Region region) {
            return new OfNode(region);
        }

        private final class OfNode extends Delegating {
            OfNode(RemoteMemory.Region region) {
                super(region);
            }

            private <T> CompletableFuture<T> lost() {
                return CompletableFuture.failedFuture(new RemoteMemoryException(name(), "is unplugged"));
            }

            private <T> CompletableFuture<T> write(Supplier<CompletableFuture<T>> whole, Runnable part) {
                if (isMet()) {
                    stop.run();
                    if (loss.arrives()) {
                        part.run();
                    }
                    for (Node node : nodes) {
                        node.lost |= loss.withWriter() || loss.node() == node.number;
                    }
                    if (lost) {
                        return lost();
                    }
                }
                return lost ? lost() : whole.get();
            }

            @Override
            public CompletableFuture<Void> get(List<Transfer> transfers) {
                return lost ? lost() : region.get(transfers);
            }

            @Override
            public CompletableFuture<Void> put(List<Transfer> transfers) {
                Transfer torn = transfers.getFirst();
                MemorySegment half = torn.local().asSlice(0, torn.local().byteSize() / 2);
                return write(
                        () -> region.put(transfers),
                        () -> region.put(List.of(new Transfer(torn.offset(), half)))
                                .join());
            }

            @Override
            public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
                if (offset >= PoolHead.READERS_AT && offset < PoolHead.PAIRS_AT) {
                    return lost ? lost() : region.compareAndSet(offset, expected, next);
                }
                return write(
                        () -> region.compareAndSet(offset, expected, next),
                        () -> region.compareAndSet(offset, expected, next).join());
            }
        }
    }
}
