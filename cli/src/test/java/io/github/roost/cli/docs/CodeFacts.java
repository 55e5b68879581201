package io.github.roost.cli.docs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Numbers in a Markdown file that stand in the code as well. A comment right before such a number, which readers do not see,
 * holds the code, with {@code #} in place of the number:
 *
 * <pre>{@code
 * it sleeps after <!-- as in: idleStrategy = IdleStrategy.spinThenPark(#) -->1,000 fruitless looks
 * }</pre>
 *
 * Zeros after the {@code #} stand for a smaller unit: {@code #_000} in the code is 200 in the text where it is {@code 200_000}. A
 * type's name restricts the search to its file: {@code as in Vectors: MAX_NEIGHBORS = #;}. {@code Integer.MAX_VALUE - 8} in the
 * code is the number that it makes.
 */
final class CodeFacts {
    private static final Pattern FACT = Pattern.compile("<!-- as in(?: (\\w+))?: (.+?) -->([\\d,]*\\d)?");
    private static final String NUMBER = "#";
    private static final String BELOW_MAX = "Integer.MAX_VALUE - ";

    private CodeFacts() {}

    /**
     * What is wrong with a text's facts.
     *
     * @param sources all Java in which the code may stand, by the names of the types
     */
    static List<String> problems(String file, String markdown, Map<String, String> sources) {
        List<String> problems = new ArrayList<>();
        for (Matcher fact = FACT.matcher(markdown); fact.find(); ) {
            String type = fact.group(1);
            String code = fact.group(2);
            String stated = fact.group(3) == null ? "no number" : fact.group(3).replace(",", "");
            Set<String> values = type == null
                    ? values(code, sources.values())
                    : values(code, List.of(sources.getOrDefault(type, "")));
            if (!values.equals(Set.of(stated))) {
                problems.add("%s says %s for %s, the code says %s".formatted(file, stated, code, values));
            }
        }
        return problems;
    }

    /** How many facts a text has. */
    static long count(String markdown) {
        return FACT.matcher(markdown).results().count();
    }

    private static Set<String> values(String code, Collection<String> sources) {
        String[] around = code.split(NUMBER, -1);
        if (around.length != 2) {
            throw new IllegalArgumentException("code must have one " + NUMBER + " for its number, got " + code);
        }
        Pattern pattern = Pattern.compile(Pattern.quote(around[0]) + "((?:" + Pattern.quote(BELOW_MAX) + ")?\\d[\\d_]*)"
                + Pattern.quote(around[1]));
        return sources.stream()
                .flatMap(source -> pattern.matcher(source).results())
                .map(match -> number(match.group(1)))
                .collect(Collectors.toSet());
    }

    private static String number(String code) {
        return code.startsWith(BELOW_MAX)
                ? String.valueOf(Integer.MAX_VALUE - Integer.parseInt(code.substring(BELOW_MAX.length())))
                : code.replace("_", "");
    }
}
