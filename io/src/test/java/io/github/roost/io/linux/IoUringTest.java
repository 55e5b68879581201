package io.github.roost.io.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The ring itself; left out where the kernel refuses one. */
@Timeout(value = 20, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway") // what is not there aborts the test
class IoUringTest {
    private static final int BLOCK = 4096;

    @TempDir
    private Path folder;

    private final Arena arena = Arena.ofShared();
    private IoUring ring;
    private DirectFile file;

    @BeforeEach
    void open() throws Exception {
        byte[] content = new byte[4 * BLOCK];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i / BLOCK + 1);
        }
        file = DirectFile.open(Files.write(folder.resolve("file"), content));
        try {
            ring = IoUring.open(3);
        } catch (LinuxException refused) {
            abort(refused.getMessage());
        }
    }

    @AfterEach
    void close() {
        ring.close();
        file.close();
        arena.close();
    }

    private MemorySegment block() {
        return arena.allocate(BLOCK, BLOCK);
    }

    private Map<Integer, Integer> reap(int count) {
        Map<Integer, Integer> results = new TreeMap<>();
        while (results.size() < count) {
            if (ring.hasCompletions()) {
                ring.reap(results::put);
            }
        }
        return results;
    }

    @Test
    void everyReadEndsWithItsTagAndItsBytes() {
        assertThat(ring.entries()).isEqualTo(4);
        for (int round = 0; round < 1_000; round++) {
            MemorySegment[] into = {block(), block(), block()};
            for (int i = 0; i < 3; i++) {
                ring.prepare(file, -1, (long) i * BLOCK, into[i], 10 + i);
            }
            assertThat(ring.unsubmitted()).isEqualTo(3);
            assertThat(ring.enter()).isZero();
            assertThat(ring.unsubmitted()).isZero();
            assertThat(reap(3)).containsExactly(Map.entry(10, BLOCK), Map.entry(11, BLOCK), Map.entry(12, BLOCK));
            for (int i = 0; i < 3; i++) {
                assertThat(into[i].toArray(ValueLayout.JAVA_BYTE)).containsOnly((byte) (i + 1));
            }
        }
    }

    @Test
    void registeredMemoryIsReadIntoAsOtherMemoryIs() {
        MemorySegment registered = arena.allocate(8L * BLOCK, BLOCK);
        boolean done = ring.register(registered);
        ring.prepare(file, -1, BLOCK, registered.asSlice(7L * BLOCK, BLOCK), 1);
        ring.prepare(file, -1, 2L * BLOCK, block(), 2);
        assertThat(ring.enter()).isZero();
        assertThat(reap(2)).containsExactly(Map.entry(1, BLOCK), Map.entry(2, BLOCK));
        assertThat(registered.asSlice(7L * BLOCK, BLOCK).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly((byte) 2);
        if (done) {
            assertThatThrownBy(() -> ring.register(block())).hasMessageContaining("one segment");
        }
    }

    @Test
    void aRegisteredFileIsReadThroughItsSlot() throws Exception {
        DirectFile other = DirectFile.open(folder.resolve("file"));
        assumeThat(ring.slots()).as("the kernel has slots for files").isEqualTo(IoUring.FILES);
        assertThat(ring.register(3, other)).isTrue();
        // Its descriptor is not valid any more, but the kernel has the file.
        other.close();
        ring.prepare(other, 3, BLOCK, block(), 1);
        ring.prepare(file, 3, 2L * BLOCK, block(), 2);
        assertThat(ring.enter()).isZero();
        assertThat(reap(2)).containsExactly(Map.entry(1, BLOCK), Map.entry(2, BLOCK));
        assertThat(ring.register(3, null)).isTrue();
        ring.prepare(file, 3, BLOCK, block(), 1);
        assertThat(ring.enter()).isZero();
        assertThat(reap(1)).containsExactly(Map.entry(1, BLOCK));
        assertThat(ring.register(IoUring.FILES, file)).isFalse();
    }

    @Test
    void whatTheKernelRefusesComesBackAsItsError() {
        ring.prepare(file, -1, 0, block().asSlice(0, 100), 1);
        ring.prepare(file, -1, 100L * BLOCK, block(), 2);
        assertThat(ring.enter()).isZero();
        assertThat(reap(2))
                .as("neither a length that is no sector nor a place behind the end")
                .containsExactly(Map.entry(1, file.isDirect() ? -Errno.EINVAL : 100), Map.entry(2, 0));
    }

    @Test
    void aFullQueueAndMemoryOnTheHeapAreRefused() {
        for (int i = 0; i < 4; i++) {
            ring.prepare(file, -1, 0, block(), i);
        }
        assertThatThrownBy(() -> ring.prepare(file, -1, 0, block(), 4)).hasMessageContaining("full");
        assertThatThrownBy(() -> ring.prepare(file, -1, 0, MemorySegment.ofArray(new byte[BLOCK]), 4))
                .hasMessageContaining("outside the heap");
        Map<Integer, Integer> withdrawn = new TreeMap<>();
        ring.withdraw(withdrawn::put, Errno.EIO);
        assertThat(withdrawn).hasSize(4).containsEntry(3, -Errno.EIO);
        assertThat(ring.unsubmitted()).isZero();
        ring.prepare(file, -1, 0, block(), 9);
        assertThat(ring.enter()).isZero();
        assertThat(reap(1)).containsExactly(Map.entry(9, BLOCK));
    }

    @Test
    void theEventIsSignalledOnlyWhileItIsAskedFor() throws Exception {
        try (EventDescriptor event = EventDescriptor.open()) {
            ring.signal(event);
            ring.prepare(file, -1, 0, block(), 1);
            ring.enter();
            reap(1);
            Thread waits = Thread.ofPlatform().start(event::await);
            waits.join(50);
            assertThat(waits.isAlive()).isTrue();
            ring.signals(true);
            ring.prepare(file, -1, 0, block(), 2);
            ring.enter();
            waits.join();
            assertThat(reap(1)).containsExactly(Map.entry(2, BLOCK));
        }
    }

    @Test
    void aClosedRingThrowsAndCrashesNothing() {
        IoUring closed = ring;
        closed.close();
        assertThatThrownBy(closed::hasCompletions).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> closed.prepare(file, -1, 0, block(), 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(closed::enter).isInstanceOf(IllegalStateException.class);
        try {
            ring = IoUring.open(1);
        } catch (LinuxException e) {
            throw new AssertionError(e);
        }
    }
}
