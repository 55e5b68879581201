package io.github.roost.io.linux;

import java.lang.foreign.ValueLayout;

/**
 * The constants and byte offsets of {@code linux/io_uring.h} that this package uses. They are part of the kernel's user-space ABI, and the
 * same on all processors.
 */
final class UringLayout {
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    static final long SETUP_CALL = 425;
    static final long ENTER_CALL = 426;
    static final long REGISTER_CALL = 427;

    /** {@code IORING_SETUP_CLAMP}: clamps the size of a ring that is too large, instead of an error. */
    static final int SETUP_CLAMP = 1 << 4;
    /** {@code IORING_FEAT_SINGLE_MMAP}. */
    static final int FEATURE_SINGLE_MMAP = 1;
    /** {@code IORING_FEAT_NATIVE_WORKERS}, of Linux 5.12; the other features used here are older. */
    static final int FEATURE_NATIVE_WORKERS = 1 << 9;

    /** {@code IORING_OFF_SQ_RING} and {@code IORING_OFF_SQES}. */
    static final long MAP_RINGS = 0;

    static final long MAP_ENTRIES = 0x10000000L;

    static final int OP_READ_FIXED = 4;
    static final int OP_READ = 22;

    static final int REGISTER_BUFFERS = 0;
    static final int REGISTER_FILES = 2;
    static final int REGISTER_EVENTFD = 4;
    static final int REGISTER_FILES_UPDATE = 6;

    /** {@code IOSQE_FIXED_FILE}, in the flags of an entry: its file is the number of a slot. */
    static final byte FIXED_FILE = 1;

    /** {@code IORING_CQ_EVENTFD_DISABLED}, in the flags of the completion queue. */
    static final int EVENTFD_DISABLED = 1;

    /** {@code struct io_uring_params}: its size, and offsets of the fields that the kernel fills in. */
    static final long PARAMS_BYTES = 120;

    static final long PARAMS_SQ_ENTRIES = 0;
    static final long PARAMS_CQ_ENTRIES = 4;
    static final long PARAMS_FLAGS = 8;
    static final long PARAMS_FEATURES = 20;
    /** {@code struct io_sqring_offsets}. */
    static final long SQ_HEAD = 40;

    static final long SQ_TAIL = 44;
    static final long SQ_MASK = 48;
    static final long SQ_ARRAY = 64;
    /** {@code struct io_cqring_offsets}. */
    static final long CQ_HEAD = 80;

    static final long CQ_TAIL = 84;
    static final long CQ_MASK = 88;
    static final long CQ_CQES = 100;
    static final long CQ_FLAGS = 104;

    /** {@code struct io_uring_sqe}. */
    static final long SQE_BYTES = 64;

    static final long SQE_OPCODE = 0;
    static final long SQE_FLAGS = 1;
    static final long SQE_FD = 4;
    static final long SQE_OFFSET = 8;
    static final long SQE_ADDRESS = 16;
    static final long SQE_LENGTH = 24;
    static final long SQE_USER_DATA = 32;
    static final long SQE_BUFFER_INDEX = 40;

    /** {@code struct io_uring_cqe}. */
    static final long CQE_BYTES = 16;

    static final long CQE_USER_DATA = 0;
    static final long CQE_RESULT = 8;

    /** {@code struct io_uring_files_update}, which begins with the number of the first slot. */
    static final long FILES_UPDATE_BYTES = 16;

    static final long FILES_UPDATE_FDS = 8;

    /** {@code struct iovec}. */
    static final long IOVEC_BYTES = 16;

    private UringLayout() {}
}
