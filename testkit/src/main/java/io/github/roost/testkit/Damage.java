package io.github.roost.testkit;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/**
 * One thing that is done to the bytes of a file.
 *
 * @param kind what is done
 * @param at where, as a share of the bytes that may be damaged
 * @param other where else, for those that need a second place
 * @param value what is written, as far as it fits
 */
public record Damage(Kind kind, double at, double other, long value) {
    /** What may be done. */
    public enum Kind {
        FLIP_BIT,
        SET_BYTE,
        /** At a place that is a multiple of its size, as most fields are; little-endian. */
        SET_INT,
        SET_LONG,
        /** Two pieces change places. */
        SWAP,
        /** One piece is written over another. */
        COPY,
        ZERO,
        CUT,
        EXTEND
    }

    /** Of all kinds. */
    public static Arbitrary<Damage> any() {
        return of(Kind.values());
    }

    /** That leaves the file as long as it is. */
    public static Arbitrary<Damage> inPlace() {
        return of(Kind.FLIP_BIT, Kind.SET_BYTE, Kind.SET_INT, Kind.SET_INT, Kind.SET_LONG, Kind.SWAP, Kind.COPY);
    }

    private static Arbitrary<Damage> of(Kind... kinds) {
        Arbitrary<Double> place =
                Arbitraries.doubles().between(0, true, 1, false).ofScale(6);
        Arbitrary<Long> values = Arbitraries.oneOf(
                Arbitraries.of(
                        0L,
                        1L,
                        -1L,
                        (long) Integer.MAX_VALUE,
                        (long) Integer.MIN_VALUE,
                        Long.MAX_VALUE,
                        Long.MIN_VALUE,
                        1L << 30,
                        1L << 40,
                        // Not a number, and infinite, as a float.
                        0x7fc00000L,
                        0x7f800000L),
                Arbitraries.longs().between(-300, 300),
                Arbitraries.longs());
        return Combinators.combine(Arbitraries.of(kinds), place, place, values).as(Damage::new);
    }

    /** A damaged copy of all the bytes. */
    public byte[] in(byte[] good) {
        return in(good, 0, good.length, 1);
    }

    /**
     * A damaged copy.
     *
     * @param from where the damage may begin
     * @param to where it ends
     * @param piece bytes that are swapped, copied or cleared at once, from multiples of that; 1 for any number
     */
    public byte[] in(byte[] good, int from, int to, int piece) {
        byte[] bytes = good.clone();
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int place = from + (int) (at * (to - from));
        int length = piece > 1 ? piece : 1 + (int) Math.floorMod(value, 64L);
        int first = (from + (int) (at * (to - from))) / piece * piece;
        int second = (from + (int) (other * (to - from))) / piece * piece;
        int room = Math.min(length, bytes.length - Math.max(first, second));
        switch (kind) {
            case FLIP_BIT -> bytes[place] ^= (byte) (1 << (value & 7));
            case SET_BYTE -> bytes[place] = (byte) value;
            case SET_INT -> buffer.putInt(Math.min(place, bytes.length - Integer.BYTES) & -Integer.BYTES, (int) value);
            case SET_LONG -> buffer.putLong(Math.min(place, bytes.length - Long.BYTES) & -Long.BYTES, value);
            case SWAP -> {
                System.arraycopy(good, first, bytes, second, room);
                System.arraycopy(good, second, bytes, first, room);
            }
            case COPY -> System.arraycopy(good, first, bytes, second, room);
            case ZERO -> Arrays.fill(bytes, first, Math.min(first + length, bytes.length), (byte) 0);
            case CUT -> bytes = Arrays.copyOf(good, place);
            case EXTEND -> bytes = Arrays.copyOf(good, good.length + 1 + (int) Math.floorMod(value, 9_000L));
            default -> throw new AssertionError(kind);
        }
        return bytes;
    }
}
