package io.github.roost.examples.cli;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Items and their traffic, as {@code roost map} reads them: one {@code id traffic} a line, non-negative integers
 * separated by blanks. Blank lines count as lines and mean nothing. Immutable.
 */
final class TrafficList {
    private final long[] ids;
    private final long[] traffic;

    private TrafficList(long[] ids, long[] traffic) {
        this.ids = ids;
        this.traffic = traffic;
    }

    int size() {
        return ids.length;
    }

    long id(int item) {
        return ids[item];
    }

    long traffic(int item) {
        return traffic[item];
    }

    /** The items' ordinals in input order, sorted by id. */
    int[] ordinalsById() {
        boolean sorted = IntStream.range(1, ids.length).allMatch(i -> ids[i - 1] < ids[i]);
        return sorted
                ? IntStream.range(0, ids.length).toArray()
                : IntStream.range(0, ids.length)
                        .boxed()
                        .sorted(Comparator.comparingLong(item -> ids[item]))
                        .mapToInt(Integer::intValue)
                        .toArray();
    }

    /**
     * Reads a list.
     *
     * @throws CommandFailure naming the line that is wrong
     */
    static TrafficList parse(byte[] text) {
        return new Parser(text).parse();
    }

    /** One pass over the bytes: lists of millions of lines are read at the speed of the input. */
    private static final class Parser {
        private final byte[] text;
        private long[] ids = new long[1024];
        private long[] traffic = new long[1024];
        private int[] lines = new int[1024];
        private int items;
        private long sum;
        private int line = 1;
        private int at;

        Parser(byte[] text) {
            this.text = text;
        }

        TrafficList parse() {
            for (; at < text.length; at++, line++) {
                skipBlanks();
                if (!atEndOfLine()) {
                    item();
                }
            }
            if (items == 0) {
                throw new CommandFailure("standard input must hold at least one line \"id traffic\", got none");
            }
            checkDistinct();
            return new TrafficList(Arrays.copyOf(ids, items), Arrays.copyOf(traffic, items));
        }

        /** Stops at the end of the line. */
        private void item() {
            long id = number("id");
            skipBlanks();
            if (atEndOfLine()) {
                throw wrong("must be \"id traffic\", got no traffic after id " + id);
            }
            long bytes = number("traffic");
            skipBlanks();
            if (!atEndOfLine()) {
                throw wrong("must be \"id traffic\", got \"" + word() + "\" after it");
            }
            sum += bytes;
            if (sum < 0) {
                throw wrong("brings the sum of all traffic above " + Long.MAX_VALUE);
            }
            add(id, bytes);
        }

        private void add(long id, long bytes) {
            if (items == ids.length) {
                ids = Arrays.copyOf(ids, 2 * items);
                traffic = Arrays.copyOf(traffic, 2 * items);
                lines = Arrays.copyOf(lines, 2 * items);
            }
            ids[items] = id;
            traffic[items] = bytes;
            lines[items++] = line;
        }

        private long number(String what) {
            int start = at;
            long value = 0;
            for (; !atBlankOrEndOfLine(); at++) {
                int digit = text[at] - '0';
                if (digit < 0 || digit > 9) {
                    at = start;
                    throw wrong("must have a non-negative integer as " + what + ", got \"" + word() + "\"");
                }
                if (value > (Long.MAX_VALUE - digit) / 10) {
                    at = start;
                    throw wrong("must have a " + what + " of at most " + Long.MAX_VALUE + ", got " + word());
                }
                value = 10 * value + digit;
            }
            return value;
        }

        private void skipBlanks() {
            while (at < text.length && isBlank(text[at])) {
                at++;
            }
        }

        private static boolean isBlank(byte c) {
            return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == 0x0b;
        }

        private boolean atEndOfLine() {
            return at == text.length || text[at] == '\n';
        }

        private boolean atBlankOrEndOfLine() {
            return atEndOfLine() || isBlank(text[at]);
        }

        /** What stands here, as far as it can be printed on one line. */
        private String word() {
            StringBuilder word = new StringBuilder();
            for (; !atBlankOrEndOfLine() && word.length() < 40; at++) {
                word.append(text[at] > ' ' && text[at] < 0x7f ? (char) text[at] : '?');
            }
            return word.append(atBlankOrEndOfLine() ? "" : "...").toString();
        }

        private CommandFailure wrong(String how) {
            return new CommandFailure("standard input, line " + line + " " + how);
        }

        private void checkDistinct() {
            int[] byId = new TrafficList(Arrays.copyOf(ids, items), traffic).ordinalsById();
            for (int i = 1; i < items; i++) {
                if (ids[byId[i - 1]] == ids[byId[i]]) {
                    line = lines[byId[i]];
                    throw wrong("has id " + ids[byId[i]] + " again, after line " + lines[byId[i - 1]]);
                }
            }
        }
    }
}
