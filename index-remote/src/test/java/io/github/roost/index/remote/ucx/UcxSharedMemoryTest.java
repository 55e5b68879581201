package io.github.roost.index.remote.ucx;

/** Over UCX's shared memory, which does not notice by itself that the other side has gone. */
class UcxSharedMemoryTest extends UcxMemoryTest {
    @Override
    String transports() {
        return "posix";
    }
}
