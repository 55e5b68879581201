package io.github.roost.index.ivf;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Part;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Indexing.GroupSearch.Group;
import io.github.roost.core.spi.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Scans the lists of a search at their homes. A search that reads little, all of it at one home, is one task. If workers are free, another
 * forks into parts of its own, each for several of its lists. Otherwise it joins the lists' batch queues. Thread-safe.
 */
final class ListScans {
    private static final Boolean SCANNED = Boolean.TRUE;

    private final Orchestrator orchestrator;
    private final ListHomes homes;
    private final IntSupplier rows;

    /** @param rows number of rows of the table */
    ListScans(Orchestrator orchestrator, ListHomes homes, IntSupplier rows) {
        this.orchestrator = orchestrator;
        this.homes = homes;
        this.rows = rows;
    }

    /** Whether a search of {@code probes} lists is one task, since dividing it would cost more than it saves. */
    boolean areOneTask(int probes, Lists lists, ListScanner scanner) {
        return probes * bytesEach(lists, scanner) <= Batches.FULL_BYTES && homes.areOne();
    }

    /**
     * The scans of a query, as parts of its search.
     *
     * @param probed its lists, at least one; the buffer, if it is to be scanned, comes first
     * @param alone whether the query runs by itself, not with queries that are likely to probe the same lists
     * @param next continuation after the scans
     */
    <R> Step.Fork<Object, IvfQuery<?>, Boolean, R> fork(
            IvfQuery<?> query,
            int[] probed,
            Lists lists,
            ListScanner scanner,
            boolean alone,
            Step.Joined<Object, Boolean, R> next) {
        if (!alone) {
            return new Step.Fork<>(List.of(), queues(probed, probed.length, lists, scanner), query, next);
        }
        List<Part<?, Boolean>> parts = new ArrayList<>();
        int[] shared = new int[probed.length];
        int count = 0;
        int[][] byHome = byHome(probed);
        for (int home = 0; home < byHome.length; home++) {
            int[] atHome = byHome[home];
            // If a list has several homes, other queries are likely to wait for it.
            int free = atHome.length == 0 || home == homes.domains()
                    ? 0
                    : orchestrator.indexing().freeWorkers(home);
            if (free == 0) {
                System.arraycopy(atHome, 0, shared, count, atHome.length);
                count += atHome.length;
            } else {
                addParts(parts, query, Batches.of(atHome, bytesEach(lists, scanner), free), lists, scanner);
            }
        }
        return new Step.Fork<>(parts, queues(shared, count, lists, scanner), query, next);
    }

    /** Lists by home domain; lists with several homes come last. */
    private int[][] byHome(int[] probed) {
        int domains = homes.domains();
        if (domains == 1) {
            return new int[][] {probed};
        }
        int[] counts = new int[domains + 1];
        int[][] byHome = new int[domains + 1][probed.length];
        for (int list : probed) {
            int home = homes.home(list);
            byHome[home][counts[home]++] = list;
        }
        Arrays.setAll(byHome, at -> Arrays.copyOf(byHome[at], counts[at]));
        return byHome;
    }

    /** Average bytes per list: looking at every list costs more than uneven batches do. */
    private long bytesEach(Lists lists, ListScanner scanner) {
        return (long) rows.getAsInt() * scanner.rowBytes() / lists.count();
    }

    private void addParts(
            List<Part<?, Boolean>> parts, IvfQuery<?> query, List<int[]> batches, Lists lists, ListScanner scanner) {
        SearchFunction<int[], Boolean> scan = (batch, context) -> scanBatch(query, batch, lists, scanner, context);
        for (int[] batch : batches) {
            countScanOfBuffer(batch[0], lists);
            parts.add(new Part<>(scan, batch, homes.id(batch[0])));
        }
    }

    private Boolean scanBatch(IvfQuery<?> query, int[] batch, Lists lists, ListScanner scanner, SearchContext context) {
        List<IvfQuery<?>> only = List.of(query);
        for (int i = 0; i < batch.length && !query.isOver() && !context.expired(); i++) {
            ListContext ofList = new ListContext(context);
            scanner.scan(lists.rows(batch[i]), only, ofList);
            // Each list of the part counts as a search of its own, with its own traffic.
            orchestrator.indexing().touched(homes.id(batch[i]), ofList.nodes, ofList.bytes);
        }
        return SCANNED;
    }

    private List<Indexing.BatchQueue<IvfQuery<?>, Boolean>> queues(
            int[] probed, int count, Lists lists, ListScanner scanner) {
        List<Indexing.BatchQueue<IvfQuery<?>, Boolean>> queues = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            countScanOfBuffer(probed[i], lists);
            queues.add(queue(probed[i], lists, scanner));
        }
        return queues;
    }

    private Indexing.BatchQueue<IvfQuery<?>, Boolean> queue(int list, Lists lists, ListScanner scanner) {
        Indexing.BatchQueue<IvfQuery<?>, Boolean> queue = lists.queue(list);
        if (queue != null) {
            return queue;
        }
        RowList scanned = lists.rows(list);
        return lists.queue(
                list,
                orchestrator
                        .indexing()
                        .batchQueue(homes.id(list), (group, context) -> scanFor(group, scanned, scanner, context)));
    }

    private static Step<Group<IvfQuery<?>, Boolean>, Boolean> scanFor(
            Group<IvfQuery<?>, Boolean> group, RowList list, ListScanner scanner, SearchContext context) {
        List<IvfQuery<?>> open = new ArrayList<>(group.size());
        for (int i = 0; i < group.size(); i++) {
            if (!group.expired(i)) {
                open.add(group.query(i));
            }
        }
        scanner.scan(list, open, context);
        return Step.done(SCANNED);
    }

    static void countScanOfBuffer(int list, Lists lists) {
        if (list == lists.bufferNumber()) {
            lists.buffer().countScan();
        }
    }

    /** The context of a task that scans several lists, for the scan of one. Belongs to the thread that runs the task. */
    private static final class ListContext implements SearchContext {
        private final SearchContext task;
        private long nodes;
        private long bytes;

        ListContext(SearchContext task) {
            this.task = task;
        }

        @Override
        public void touched(long moreNodes, long moreBytes) {
            nodes += moreNodes;
            bytes += moreBytes;
        }

        @Override
        public int worker() {
            return task.worker();
        }

        @Override
        public int domain() {
            return task.domain();
        }

        @Override
        public long epoch() {
            return task.epoch();
        }

        @Override
        public boolean expired() {
            return task.expired();
        }
    }
}
