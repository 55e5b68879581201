package io.github.roost.bench.stores;

/** Which texts a search may find. The value asked for changes from query to query, as it does with many users. */
enum Condition {
    /** All. */
    ALL("all"),
    /** Half of them: a range of pages. */
    PAGES("50 %"),
    /** Those of one tenant of ten. */
    TENANT("10 %"),
    /** Those of one source of 500. */
    SOURCE("0.2 %");

    private final String share;

    Condition(String share) {
        this.share = share;
    }

    /** The share of the texts, for people. */
    String share() {
        return share;
    }

    /** The tenant or source that a query asks for, or the page before which it wants all. */
    int value(int query) {
        return switch (this) {
            case ALL -> 0;
            case PAGES -> StoredText.PAGES / 2;
            case TENANT -> query % StoredText.TENANTS;
            case SOURCE -> query % StoredText.SOURCES;
        };
    }

    /** Whether a query may find the text with a number. */
    boolean allows(int query, int number) {
        return switch (this) {
            case ALL -> true;
            case PAGES -> StoredText.pageOf(number) < value(query);
            case TENANT -> StoredText.tenantOf(number) == value(query);
            case SOURCE -> StoredText.sourceOf(number) == value(query);
        };
    }
}
