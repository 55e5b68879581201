package io.github.roost.bench.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Reads with the JDK's {@link FileChannel} and direct I/O: one thread per read in flight. */
final class ChannelReader implements Reader {
    private final NumberedBlocks blocks;
    private final int depth;
    private final FileChannel channel;
    private final ExecutorService threads;

    ChannelReader(NumberedBlocks blocks, int depth) throws IOException {
        this.blocks = blocks;
        this.depth = depth;
        this.channel = FileChannel.open(blocks.path(), Set.of(StandardOpenOption.READ, DirectOption.get()));
        this.threads = Executors.newFixedThreadPool(depth);
    }

    @Override
    public Done read(Duration time) throws IOException, InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        List<Callable<Long>> loops = new ArrayList<>();
        for (int thread = 0; thread < depth; thread++) {
            SplittableRandom random = new SplittableRandom(end + thread);
            loops.add(() -> readUntil(end, random));
        }
        long reads = 0;
        for (Future<Long> loop : threads.invokeAll(loops)) {
            try {
                reads += loop.get();
            } catch (ExecutionException e) {
                throw new IOException(e.getCause());
            }
        }
        return new Done(reads, 0);
    }

    private long readUntil(long end, SplittableRandom random) throws IOException {
        ByteBuffer into = ByteBuffer.allocateDirect(2 * NumberedBlocks.BYTES)
                .alignedSlice(NumberedBlocks.BYTES)
                .order(ByteOrder.nativeOrder());
        long reads = 0;
        while (System.nanoTime() - end < 0) {
            long block = random.nextLong(blocks.count());
            into.clear().limit(NumberedBlocks.BYTES);
            while (into.hasRemaining()) {
                if (channel.read(into, block * NumberedBlocks.BYTES + into.position()) < 0) {
                    throw new IOException("the file ends before block " + block);
                }
            }
            NumberedBlocks.require(block, into.getLong(0));
            reads++;
        }
        return reads;
    }

    @Override
    public void close() throws IOException {
        threads.close();
        channel.close();
    }
}
