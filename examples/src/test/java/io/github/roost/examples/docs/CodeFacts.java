package io.github.roost.examples.docs;

import java.util.ArrayList;
import java.util.List;
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
 * Zeros after the {@code #} stand for a smaller unit: {@code #_000} in the code is 200 in the text where it is {@code 200_000}.
 */
final class CodeFacts {
    private static final Pattern FACT = Pattern.compile("<!-- as in: (.+?) -->([\\d,]*\\d)?");
    private static final String NUMBER = "#";

    private CodeFacts() {}

    /**
     * What is wrong with a text's facts.
     *
     * @param sources all Java in which the code may stand
     */
    static List<String> problems(String file, String markdown, String sources) {
        List<String> problems = new ArrayList<>();
        for (Matcher fact = FACT.matcher(markdown); fact.find(); ) {
            String code = fact.group(1);
            String stated = fact.group(2) == null ? "no number" : fact.group(2).replace(",", "");
            Set<String> values = values(code, sources);
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

    private static Set<String> values(String code, String sources) {
        String[] around = code.split(NUMBER, -1);
        if (around.length != 2) {
            throw new IllegalArgumentException("code must have one " + NUMBER + " for its number, got " + code);
        }
        return Pattern.compile(Pattern.quote(around[0]) + "(\\d[\\d_]*)" + Pattern.quote(around[1]))
                .matcher(sources)
                .results()
                .map(match -> match.group(1).replace("_", ""))
                .collect(Collectors.toSet());
    }
}
