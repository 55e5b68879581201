package io.github.roost.index.disk.update;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Indexing;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.NodesById;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.search.SearchCounts;
import io.github.roost.io.BlockIo;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The single writer of a table: takes updates in the order in which they became durable and applies them, a few concurrently, in
 * pieces of some microseconds, as maintenance on the workers or on a thread of its own.
 *
 * <p>At most one maintenance of it is submitted at a time, so all state but the queues and {@link #scheduled} belongs to one
 * thread at a time: {@link #wake} submits one only if it changes {@code scheduled} from false to true. A step that finds
 * nothing to do sets it to false last, then checks again for work that became ready before that, whose {@code wake} found it
 * still true. So no ready work is left without a maintenance.
 */
public final class DiskWriter implements Indexing.Maintenance {
    /** Max concurrent inserts: while some wait for reads, others compute. */
    private static final int MAX_INSERTS = 8;
    /** Share of deleted nodes at which they are removed from the graph. */
    private static final double REPAIR_SHARE = .1;

    private static final int MIN_REPAIRED = 32;
    /** Nodes that a search for any row passes at once: some microseconds. */
    private static final int MAX_PASSED = 128;

    /** Runs a writer's steps, and follows its updates. */
    interface Owner {
        /** Has the writer's steps run until one returns false; called by any thread, once until then. */
        void submit();

        /** Called after each update. */
        void changed();

        /** Whether updates must wait for a checkpoint. */
        boolean isFull();

        /** Called when a durable update failed: later ones may depend on it. */
        void failed(Throwable failure);
    }

    /** Work to be done in the order of the updates. */
    public sealed interface Work {
        /** A durable update. */
        record Change(Update update) implements Work {}

        /**
         * Any other action.
         *
         * @param action to be run
         * @param isCut whether to wait until no inserts are running
         * @param failed called if the action throws, and instead of it if it will never run
         */
        record Run(Runnable action, boolean isCut, Consumer<Throwable> failed) implements Work {}
    }

    private final DiskGraph graph;
    private final SearchCounts counts;
    private final BlockIo io;
    private final Owner owner;
    /** Urgent work that waits until no inserts are running. */
    private Work.@Nullable Run cut;
    /** Changed nodes while codes are learned, with the vectors of new rows; null otherwise. */
    private @Nullable Map<Integer, float @Nullable []> changes;
    /** Whether all but urgent work waits, for the codes of the last changes. */
    private boolean isHeld;

    private final NodesById rows;
    private final Queue<Work> queue = new ConcurrentLinkedQueue<>();
    private final Queue<Work> urgent = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private volatile @Nullable Throwable aborted;

    private final List<InsertJob> inserts = new ArrayList<>();
    private final Set<Long> inserting = new HashSet<>();
    /** Linked, as an array of many would be copied when it grows. */
    private final Queue<Integer> freeNodes = new ConcurrentLinkedQueue<>();
    /** Row blocks that differ from the last checkpoint. */
    private BitSet changedRows = new BitSet();

    /** The checkpoint that captures the table. */
    private @Nullable Checkpoint capturing;

    private @Nullable RepairJob repair;
    private boolean repairWanted;
    private boolean mayRepair = true;
    /** Number of deleted nodes that the last repair left. */
    private int kept;

    private boolean repairsTurn;
    private int turn;
    /** Where {@link #anyRow} looks next, how many nodes it has passed, and the last one of them that hangs on another one. */
    private int candidate;

    private int passed;
    private int hanging;
    /** The job that the running step continues: a long step does not leave an update for another one. */
    private @Nullable WriterJob current;

    private volatile UpdateThread thread = UpdateThread.ofProperty();
    /** The kind of thread that runs the steps. */
    private UpdateThread runsOn = UpdateThread.WORKERS;
    /** 0 for the worker's own limit. */
    private volatile long sliceNanos;

    private final LongAdder updates = new LongAdder();
    private final LongAdder busyNanos = new LongAdder();
    private final LongAdder pruneNanos = new LongAdder();
    private final DoubleAdder takenOut = new DoubleAdder();

    /**
     * Creates a writer without work.
     *
     * @param graph changed by this writer alone
     * @param rows nodes by id, guarded by itself
     * @param io reads pages for updates
     * @param counts counts these pages
     * @param owner runs its steps
     */
    public DiskWriter(DiskGraph graph, NodesById rows, BlockIo io, SearchCounts counts, Owner owner) {
        this.graph = graph;
        ProductCodes codes = graph.codes();
        this.rows = rows;
        this.io = io;
        this.counts = counts;
        this.owner = owner;
        for (int node = 0; node < codes.nodes(); node++) {
            if (codes.state(node) == ProductCodes.FREE) {
                freeNodes.add(node);
            }
        }
    }

    private ProductCodes codes() {
        return graph.codes();
    }

    /** The kind of thread that is to run the steps. */
    public UpdateThread thread() {
        return thread;
    }

    /** Sets which thread runs the steps; takes effect with the next one. */
    public void thread(UpdateThread value) {
        thread = value;
    }

    /** Sets the max time of a step before other tasks have a turn; 0 for the worker's own limit. */
    public void sliceNanos(long nanos) {
        sliceNanos = nanos;
    }

    /** Adds work after earlier work; any thread. */
    public void add(Work work) {
        add(queue, work);
    }

    /** Adds urgent work, which is done before updates, or before the next ones if it is a cut; any thread. */
    void addFirst(Work work) {
        add(urgent, work);
    }

    private void add(Queue<Work> to, Work work) {
        to.add(work);
        Throwable failure = aborted;
        if (failure == null) {
            wake();
        } else {
            drop(failure);
        }
    }

    /** Submits this if necessary, as there may be work; any thread. */
    void wake() {
        if (scheduled.compareAndSet(false, true)) {
            owner.submit();
        }
    }

    @Override
    public boolean step(SearchContext context) throws Exception {
        if (thread != runsOn) {
            // Still scheduled, so no other thread submits it: it continues on the other kind of thread.
            runsOn = thread;
            owner.submit();
            return false;
        }
        long began = System.nanoTime();
        long slice = sliceNanos;
        long end = began + (slice == 0 ? context.stepNanos() : slice);
        long last = Math.min(end, began + Indexing.Maintenance.STEP_NANOS);
        long now = began;
        boolean ran;
        do {
            ran = piece(context);
            now = System.nanoTime();
        } while (ran && now < (current == null ? last : end));
        current = null;
        busyNanos.add(now - began);
        if (ran) {
            return true;
        }
        boolean takesMore = takesMore();
        List<WriterJob> waiting = new ArrayList<>(inserts);
        if (repair != null && !isHeld) {
            waiting.add(repair);
        }
        scheduled.set(false);
        boolean missed = !urgent.isEmpty()
                || (!isHeld && (takesMore || waiting.isEmpty()) && !queue.isEmpty() && !owner.isFull())
                || waiting.stream().anyMatch(WriterJob::isReady);
        return missed && scheduled.compareAndSet(false, true);
    }

    /** Does one piece of work; false if nothing can be done now. */
    private boolean piece(SearchContext context) throws Exception {
        Work work = urgent.poll();
        if (work instanceof Work.Run run && run.isCut()) {
            cut = run;
            return true;
        }
        if (work == null && takesMore()) {
            work = queue.poll();
        }
        if (work != null) {
            begin(work);
            return true;
        }
        if (isHeld) {
            return false;
        }
        WriterJob begun = current;
        if (begun != null && begun.isReady()) {
            run(begun, context);
            return true;
        }
        if (repair != null && repair.isReady() && (repairsTurn ^= true)) {
            // Every second piece, or rows are deleted faster than their nodes are removed.
            run(repair, context);
            return true;
        }
        int jobs = inserts.size() + (repair == null ? 0 : 1);
        for (int i = 0; i < jobs; i++) {
            turn = (turn + 1) % jobs;
            WriterJob job = turn < inserts.size() ? inserts.get(turn) : repair;
            if (job != null && job.isReady()) {
                run(job, context);
                return true;
            }
        }
        return false;
    }

    /** Whether the next work may begin. */
    private boolean takesMore() {
        Work.Run due = cut;
        if (due != null && !isHeld) {
            if (!inserts.isEmpty()) {
                return false;
            }
            cut = null;
            begin(due);
        }
        if (isHeld) {
            return false;
        }
        if (repairWanted && repair == null) {
            // Running inserts may have chosen neighbors that are deleted by now.
            if (!inserts.isEmpty()) {
                return false;
            }
            repairWanted = false;
            repair = new RepairJob(graph, counts, this, io.reads());
        }
        // The first row of an empty table must be there before the next can be linked to it.
        int max = graph.live() == 0 ? 1 : MAX_INSERTS;
        return inserts.size() < max && !isBlocked();
    }

    private boolean isBlocked() {
        return switch (queue.peek()) {
            case Work.Run run when run.isCut() -> !inserts.isEmpty();
            case Work.Change(Update update) -> inserting.contains(update.id()) || owner.isFull();
            case null, default -> false;
        };
    }

    private void begin(Work work) {
        switch (work) {
            case Work.Change(Update update) -> {
                try {
                    begin(update);
                } catch (Throwable failure) {
                    owner.failed(failure);
                    inserting.remove(update.id());
                    update.done().completeExceptionally(failure);
                }
            }
            case Work.Run run -> {
                try {
                    run.action().run();
                } catch (Throwable failure) {
                    run.failed().accept(failure);
                }
            }
        }
    }

    private void begin(Update update) {
        float[] vector = update.vector();
        if (vector == null) {
            int node;
            synchronized (rows) {
                node = rows.remove(codes(), update.id());
            }
            if (node >= 0) {
                delete(node);
            }
            ended(update, node >= 0);
        } else {
            inserting.add(update.id());
            inserts.add(new InsertJob(graph, counts, this, update, vector, io.reads()));
        }
    }

    private void delete(int node) {
        setState(node, ProductCodes.DEAD);
        if (repair != null) {
            repair.deleted(node);
        }
        graph.count(-1, 1);
        wantRepair();
    }

    private void wantRepair() {
        int dead = graph.dead();
        repairWanted |= mayRepair
                && dead - kept >= Math.max(MIN_REPAIRED, REPAIR_SHARE * (graph.live() + dead))
                && graph.live() > 0;
    }

    private void run(WriterJob job, SearchContext context) {
        boolean isDone;
        try {
            WriterJob.Progress progress = job.run(context);
            isDone = progress == WriterJob.Progress.DONE;
            current = progress == WriterJob.Progress.RAN ? job : null;
        } catch (Exception | Error failure) {
            isDone = true;
            current = null;
            owner.failed(failure);
            if (job instanceof InsertJob insert) {
                insert.update().done().completeExceptionally(failure);
            }
        }
        if (isDone) {
            job.close();
            if (job instanceof InsertJob insert) {
                inserts.remove(insert);
                inserting.remove(insert.update().id());
            } else {
                repair = null;
            }
        }
    }

    /** Allocates a node for a new row. */
    int takeNode() {
        Integer free = freeNodes.poll();
        if (free != null) {
            return free;
        }
        int node = codes().nodes();
        codes().grow(node + 1);
        return node;
    }

    /**
     * Some live row to link to, as an array, that does not hang on another one if there is such a row; empty if there is no row; null if it is
     * still to be found, by later calls: all nodes are too many for one piece.
     */
    int @Nullable [] anyRow() {
        if (graph.live() == 0) {
            return new int[0];
        }
        if (codes().state(graph.entry()) == ProductCodes.LIVE) {
            return new int[] {graph.entry()};
        }
        for (int i = 0; i < MAX_PASSED; i++) {
            if (codes().state(candidate) == ProductCodes.LIVE) {
                if (!codes().hangsOn(candidate)) {
                    passed = 0;
                    return new int[] {candidate};
                }
                hanging = candidate;
            }
            candidate = (candidate + 1) % codes().nodes();
            passed++;
        }
        if (passed < codes().nodes() || codes().state(hanging) != ProductCodes.LIVE) {
            return null;
        }
        passed = 0;
        return new int[] {hanging};
    }

    /** Called when edges lead to a row: it no longer hangs on another one. */
    void linked(int node) {
        if (codes().hangsOn(node)) {
            setState(node, codes().state(node));
        }
    }

    /**
     * Called when a row is linked: makes it visible to searches, and hides the row that it replaces.
     *
     * @param hangsOn whether it was put into the ring of an equal row
     * @param isAlone whether no edge leads to it
     * @param error of its code
     */
    void inserted(Update update, int node, boolean hangsOn, boolean isAlone, double error) {
        int before;
        codes().setErrors(codes().errors().plus(error));
        setState(node, hangsOn ? (byte) (ProductCodes.LIVE | ProductCodes.HANGS_ON) : ProductCodes.LIVE);
        graph.count(1, 0);
        synchronized (rows) {
            before = rows.put(codes(), node);
        }
        if (isAlone && !hangsOn) {
            graph.setEntry(node);
        }
        if (before >= 0) {
            delete(before);
        }
        ended(update, before < 0);
    }

    private void ended(Update update, boolean answer) {
        updates.increment();
        owner.changed();
        update.done().complete(answer);
    }

    /** Whether the running repair takes a node out of the graph: no new edge may lead to it. */
    boolean isTakenOut(int node) {
        return repair != null && repair.takesOut(node);
    }

    /** Called when a repair could not read a page, which may have edges to the deleted nodes: they stay until there are as many again. */
    void notRepaired() {
        kept = graph.dead();
        repairWanted = false;
    }

    /** Frees a deleted node to which no edge leads after a repair. */
    void free(int node) {
        setState(node, ProductCodes.FREE);
        codes().leaveTwins(node);
        freeNodes.add(node);
        graph.count(0, -1);
    }

    /** Called when a repair has freed its nodes. */
    void repaired() {
        kept = 0;
        wantRepair();
    }

    /** Publishes a new version of a page. */
    void publish(NodePage page) {
        if (capturing != null) {
            capturing.keepPage(page.number(), graph.changed(page.number()));
        }
        graph.publish(page);
    }

    private void keepRow(int node) {
        if (capturing != null) {
            capturing.keepRows(graph.layout().rowBlockOf(node));
        }
    }

    private void setState(int node, byte state) {
        keepRow(node);
        codes().setState(node, state);
        changedRows.set(graph.layout().rowBlockOf(node));
        if (changes != null && !changes.containsKey(node)) {
            changes.put(node, null);
        }
    }

    /** Gives a node a new row, which is not visible yet. */
    void put(int node, long id, byte[] code, float[] vector) {
        keepRow(node);
        codes().put(node, id, code, ProductCodes.FREE);
        if (changes != null) {
            changes.put(node, vector);
        }
    }

    /** Records the changed nodes from now on, in a tree: a table of many would be copied when it grows. */
    void follow() {
        changes = new TreeMap<>();
    }

    /** The nodes that have changed since the last call, with the vectors of new rows. */
    Map<Integer, float @Nullable []> takeChanges() {
        Map<Integer, float @Nullable []> taken = Objects.requireNonNull(changes);
        follow();
        return taken;
    }

    /** Does only urgent work until {@link #unfollow}; called while no inserts are running. */
    void hold() {
        isHeld = true;
    }

    /** Records no more changes. */
    void unfollow() {
        changes = null;
        isHeld = false;
    }

    /** Puts codes in place of the current ones that have been learned of the same rows. */
    void codesLearned(ProductCodes learned) {
        unfollow();
        changedRows.set(0, graph.layout().rowBlocks(learned.nodes()));
        graph.setCodes(learned);
    }

    /** Keeps what a checkpoint captures, from now on. */
    void capture(Checkpoint checkpoint) {
        capturing = checkpoint;
    }

    /** Keeps no more. */
    void captured() {
        capturing = null;
    }

    /** The changed row blocks, which then count as written. */
    BitSet takeChangedRows() {
        BitSet taken = changedRows;
        changedRows = new BitSet();
        return taken;
    }

    /** Marks row blocks as changed whose write failed. */
    void rowsStillChanged(BitSet blocks) {
        changedRows.or(blocks);
    }

    void pruned(long nanos) {
        pruneNanos.add(nanos);
    }

    /** Counts the progress of a repair, in deleted nodes removed. */
    void takesOut(double nodes) {
        takenOut.add(nodes);
    }

    /** Whether a repair is running or due. Run by the writer. */
    boolean repairs() {
        return repair != null || repairWanted;
    }

    /** Stops repairs for good: deleted nodes stay in the graph. Run by the writer. */
    void stopRepairs() {
        mayRepair = false;
        repairWanted = false;
        if (repair != null) {
            repair.close();
            repair = null;
            // It may be the repair: this runs between two pieces of a step.
            current = null;
        }
    }

    /** Called when a step threw on the table's own thread. */
    void failed(Throwable failure) {
        owner.failed(failure);
        abort(failure);
    }

    /** Fails all pending work; called when no step is running or will run. */
    void abort(Throwable failure) {
        for (InsertJob insert : inserts) {
            insert.close();
            insert.update().done().completeExceptionally(failure);
        }
        inserts.clear();
        if (repair != null) {
            repair.close();
        }
        dropCut(failure);
        aborted = failure;
        drop(failure);
    }

    /** Fails the queued work. A thread that adds work later sees {@code aborted}, and drops it too. */
    private void drop(Throwable failure) {
        drop(queue, failure);
        drop(urgent, failure);
    }

    /** Fails the cut that waits; called when no step is running or will run. */
    private void dropCut(Throwable failure) {
        if (cut != null) {
            cut.failed().accept(failure);
        }
    }

    private static void drop(Queue<Work> from, Throwable failure) {
        for (Work work = from.poll(); work != null; work = from.poll()) {
            switch (work) {
                case Work.Change(Update update) -> update.done().completeExceptionally(failure);
                case Work.Run run -> run.failed().accept(failure);
            }
        }
    }

    /** Number of updates done. */
    public long updates() {
        return updates.sum();
    }

    public long busyNanos() {
        return busyNanos.sum();
    }

    public long pruneNanos() {
        return pruneNanos.sum();
    }

    public double takenOut() {
        return takenOut.sum();
    }
}
