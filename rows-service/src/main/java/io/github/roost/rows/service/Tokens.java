package io.github.roost.rows.service;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tokens that servers accept for one right, and the one that clients send. Those of a file are replaced while processes run: a server accepts
 * every line, and a client sends the first one. So a new token is added to the servers' files as a further line; then it is the first line of
 * the clients' files; then the old line is removed. Thread-safe.
 */
public final class Tokens {
    private static final int MIN_TOKEN = 16;
    private static final int MAX_TOKENS = 16;
    private static final int MAX_FILE_BYTES = 1 << 16;

    private final @Nullable Path file;
    /** At least one. */
    private volatile List<String> accepted;

    private Tokens(@Nullable Path file, List<String> accepted) {
        this.file = file;
        this.accepted = accepted;
    }

    /**
     * One token that stays.
     *
     * @param token 16 or more printable ASCII characters
     * @return the token
     * @throws IllegalArgumentException if it is too short, or has another character
     */
    public static Tokens of(String token) {
        return new Tokens(null, List.of(requireToken(token)));
    }

    /**
     * The tokens of a file. Servers and clients that use them read the file again within seconds after it has changed, and keep what they know while it
     * is missing or wrong.
     *
     * @param file 1 to 16 tokens, one per line, each as for {@link #of}; spaces around them and empty lines are ignored
     * @return its tokens
     * @throws IllegalArgumentException if the file cannot be read or has other lines
     */
    public static Tokens inFile(Path file) {
        try {
            return new Tokens(file, read(file));
        } catch (IOException e) {
            throw new IllegalArgumentException("token file must be readable, got " + file, e);
        }
    }

    private static List<String> read(Path file) throws IOException {
        Vectors.requireRange("bytes of token file " + file, Files.size(file), 0, MAX_FILE_BYTES);
        List<String> tokens = Files.readString(file, StandardCharsets.ISO_8859_1)
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .map(Tokens::requireToken)
                .toList();
        Vectors.requireRange("tokens in " + file, tokens.size(), 1, MAX_TOKENS);
        return tokens;
    }

    private static String requireToken(String token) {
        if (token.length() < MIN_TOKEN) {
            throw new IllegalArgumentException(
                    "token must have " + MIN_TOKEN + " characters or more, got " + token.length());
        }
        // gRPC sends others as question marks, so that different tokens would be the same.
        if (token.chars().anyMatch(character -> character < ' ' || character > '~')) {
            throw new IllegalArgumentException("token must be of printable ASCII characters, got another");
        }
        return token;
    }

    /** Reads the file, if there is one, whenever it has changed. */
    void follow(ChangedFiles files) {
        Path followed = file;
        if (followed == null) {
            return;
        }
        try {
            files.follow(List.of(followed), () -> accepted = read(followed));
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException("token file must be readable, got " + followed, e);
        }
    }

    /** The token to send. */
    String first() {
        return accepted.getFirst();
    }

    /** Compares in constant time, so that the duration does not reveal a matching prefix. */
    boolean accept(String brought) {
        byte[] bytes = brought.getBytes(US_ASCII);
        boolean isAccepted = false;
        for (String token : accepted) {
            isAccepted |= MessageDigest.isEqual(token.getBytes(US_ASCII), bytes);
        }
        return isAccepted;
    }

    boolean sharesOneWith(Tokens other) {
        return accepted.stream().anyMatch(other::accept);
    }

    /** Omits the tokens, which are secrets. */
    @Override
    public String toString() {
        return "Tokens[" + (file == null ? "fixed" : file) + "]";
    }
}
