package io.github.roost.cli;

import io.github.roost.simulator.options.CommandFailure;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Items and their traffic, in the input format of {@code roost map}: one {@code id traffic} per line, separated by blanks. Traffic is a
 * non-negative integer. If all ids are non-negative integers they are numbers, ordered by value; otherwise all are names, ordered by bytes. Blank
 * lines are ignored but counted. Immutable.
 */
final class TrafficList {
    private final byte[] text;
    /** Start and end of each item's id in the text. */
    private final int[] begins;

    private final int[] ends;
    private final long[] traffic;
    /** The ids, or empty if they are names. */
    private final long[] numbers;

    private TrafficList(byte[] text, int[] begins, int[] ends, long[] traffic, long[] numbers) {
        this.text = text;
        this.begins = begins;
        this.ends = ends;
        this.traffic = traffic;
        this.numbers = numbers;
    }

    int size() {
        return traffic.length;
    }

    /** Appends an item's id: a number without leading zeros, a name as it was read. */
    void appendId(int item, ByteArrayOutputStream out) {
        if (numbers.length > 0) {
            out.writeBytes(Long.toString(numbers[item]).getBytes(StandardCharsets.US_ASCII));
        } else {
            out.write(text, begins[item], ends[item] - begins[item]);
        }
    }

    long traffic(int item) {
        return traffic[item];
    }

    /** The items' ordinals in input order, sorted by id. */
    int[] ordinalsById() {
        boolean sorted = IntStream.range(1, size()).allMatch(i -> compare(i - 1, i) < 0);
        return sorted
                ? IntStream.range(0, size()).toArray()
                : IntStream.range(0, size())
                        .boxed()
                        .sorted((Comparator<Integer>) this::compare)
                        .mapToInt(Integer::intValue)
                        .toArray();
    }

    private int compare(int item, int other) {
        return numbers.length > 0
                ? Long.compare(numbers[item], numbers[other])
                : Arrays.compareUnsigned(text, begins[item], ends[item], text, begins[other], ends[other]);
    }

    /**
     * Parses a list.
     *
     * @throws CommandFailure naming the invalid line
     */
    static TrafficList parse(byte[] text) {
        return new Parser(text).parse();
    }

    /** A one-pass parser of bytes, fast enough for lists of millions of lines. */
    private static final class Parser {
        private final byte[] text;
        private int[] begins = new int[1024];
        private int[] ends = new int[1024];
        private long[] numbers = new long[1024];
        private long[] traffic = new long[1024];
        private int[] lines = new int[1024];
        private boolean areNumbers = true;
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
            TrafficList list = new TrafficList(
                    text,
                    Arrays.copyOf(begins, items),
                    Arrays.copyOf(ends, items),
                    Arrays.copyOf(traffic, items),
                    Arrays.copyOf(numbers, areNumbers ? items : 0));
            checkDistinct(list);
            return list;
        }

        /** Stops at the end of the line. */
        private void item() {
            makeRoom();
            begins[items] = at;
            numbers[items] = id();
            ends[items] = at;
            skipBlanks();
            if (atEndOfLine()) {
                throw wrong("must be \"id traffic\", got no traffic after id " + idOf(items));
            }
            long bytes = traffic();
            skipBlanks();
            if (!atEndOfLine()) {
                throw wrong("must be \"id traffic\", got \"" + word() + "\" after it");
            }
            sum += bytes;
            if (sum < 0) {
                throw wrong("brings the sum of all traffic above " + Long.MAX_VALUE);
            }
            traffic[items] = bytes;
            lines[items++] = line;
        }

        private void makeRoom() {
            if (items == lines.length) {
                begins = Arrays.copyOf(begins, 2 * items);
                ends = Arrays.copyOf(ends, 2 * items);
                numbers = Arrays.copyOf(numbers, 2 * items);
                traffic = Arrays.copyOf(traffic, 2 * items);
                lines = Arrays.copyOf(lines, 2 * items);
            }
        }

        /** Parses a number; 0 once ids are known to be names. */
        private long id() {
            long value = 0;
            for (; !atBlankOrEndOfLine(); at++) {
                int digit = text[at] - '0';
                areNumbers &= digit >= 0 && digit <= 9 && value <= (Long.MAX_VALUE - digit) / 10;
                value = areNumbers ? 10 * value + digit : 0;
            }
            return value;
        }

        /** An id, shortened to fit on one line. */
        private String idOf(int item) {
            at = begins[item];
            return word();
        }

        private long traffic() {
            int start = at;
            long value = 0;
            for (; !atBlankOrEndOfLine(); at++) {
                int digit = text[at] - '0';
                if (digit < 0 || digit > 9) {
                    at = start;
                    throw wrong("must have a non-negative integer as traffic, got \"" + word() + "\"");
                }
                if (value > (Long.MAX_VALUE - digit) / 10) {
                    at = start;
                    throw wrong("must have a traffic of at most " + Long.MAX_VALUE + ", got " + word());
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

        /** The current word, shortened to fit on one line. */
        private String word() {
            StringBuilder word = new StringBuilder();
            for (; !atBlankOrEndOfLine() && word.length() < 40; at++) {
                word.append(text[at] > ' ' && text[at] < 0x7f ? (char) text[at] : '?');
            }
            return word.append(atBlankOrEndOfLine() ? "" : "...").toString();
        }

        private CommandFailure wrong(String parameters) {
            return new CommandFailure("standard input, line " + line + " " + parameters);
        }

        private void checkDistinct(TrafficList list) {
            int[] byId = list.ordinalsById();
            for (int i = 1; i < items; i++) {
                if (list.compare(byId[i - 1], byId[i]) == 0) {
                    line = lines[byId[i]];
                    throw wrong("has id " + idOf(byId[i - 1]) + " again, after line " + lines[byId[i - 1]]);
                }
            }
        }
    }
}
