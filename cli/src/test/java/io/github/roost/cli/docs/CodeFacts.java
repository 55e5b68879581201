package io.github.roost.cli.docs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Numbers in a Markdown file that stand in the code as well. A link definition at the end of the file, which readers do not see, has
 * the words around such a number and the code around it, with {@code #} in place of the number:
 *
 * <pre>{@code
 * [fact: it sleeps after # spins]: # "Orchestrator: idleStrategy = IdleStrategy.spinThenPark(#)"
 * }</pre>
 *
 * A type's name before the code restricts the search to its file, and may be left out. Code with quotes stands in single quotes. Zeros
 * after the {@code #} stand for a smaller unit: {@code #_000} in the code is 200 in the text where it is {@code 200_000}. {@code
 * Integer.MAX_VALUE - 8} in the code is the number that it makes.
 */
final class CodeFacts {
    /** A definition: the words, the type if there is one, and the code. */
    private static final Pattern FACT =
            Pattern.compile("^\\[fact: (.+)]: # ([\"'])(?:(\\w+): )?(.+)\\2$", Pattern.MULTILINE);

    private static final Pattern DEFINITION = Pattern.compile("^\\[fact: .*$", Pattern.MULTILINE);
    private static final String NUMBER = "#";
    private static final String STATED = "(\\d[\\d,]*\\d|\\d)";
    private static final String BELOW_MAX = "Integer.MAX_VALUE - ";

    private CodeFacts() {}

    /**
     * What is wrong with a text's facts.
     *
     * @param sources all Java in which the code may stand, by the names of the types
     */
    static List<String> problems(String file, String markdown, Map<String, String> sources) {
        List<String> problems = new ArrayList<>();
        if (count(markdown) != FACT.matcher(markdown).results().count()) {
            problems.add(file + " has a fact that is not of the form [fact: words with #]: # \"Type: code with #\"");
        }
        String text = withoutDefinitions(markdown).replaceAll("\\s+", " ");
        for (MatchResult fact : FACT.matcher(markdown).results().toList()) {
            String words = fact.group(1);
            String code = fact.group(4);
            Set<String> inText = numbers(words, STATED, List.of(text));
            Set<String> inCode =
                    numbers(code, "((?:" + Pattern.quote(BELOW_MAX) + ")?\\d[\\d_]*)", sources(fact.group(3), sources));
            if (inCode.size() != 1 || !inText.equals(inCode)) {
                problems.add(
                        "%s says %s in \"%s\", the code says %s in %s".formatted(file, inText, words, inCode, code));
            }
        }
        return problems;
    }

    private static Collection<String> sources(@Nullable String type, Map<String, String> sources) {
        return type == null ? sources.values() : List.of(sources.getOrDefault(type, ""));
    }

    /** How many facts a text has. */
    static long count(String markdown) {
        return DEFINITION.matcher(markdown).results().count();
    }

    /** What readers see of a text, apart from other comments. */
    static String withoutDefinitions(String markdown) {
        return DEFINITION.matcher(markdown).replaceAll("");
    }

    private static Set<String> numbers(String around, String number, Collection<String> texts) {
        String[] parts = around.split(NUMBER, -1);
        if (parts.length != 2) {
            throw new IllegalArgumentException("a fact must have one " + NUMBER + " for its number, got " + around);
        }
        Pattern pattern = Pattern.compile(Pattern.quote(parts[0]) + number + Pattern.quote(parts[1]));
        return texts.stream()
                .flatMap(text -> pattern.matcher(text).results())
                .map(match -> plain(match.group(1)))
                .collect(Collectors.toSet());
    }

    private static String plain(String number) {
        return number.startsWith(BELOW_MAX)
                ? String.valueOf(Integer.MAX_VALUE - Integer.parseInt(number.substring(BELOW_MAX.length())))
                : number.replaceAll("[_,]", "");
    }
}
