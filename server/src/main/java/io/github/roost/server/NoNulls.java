package io.github.roost.server;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Rejects every null: an absent field has its default, and no field accepts null. */
final class NoNulls extends JsonParserDelegate {
    NoNulls(JsonParser parser) {
        super(parser);
    }

    @Override
    public @Nullable JsonToken nextToken() throws IOException {
        JsonToken token = super.nextToken();
        if (token == JsonToken.VALUE_NULL) {
            throw new JsonParseException(this, "null is not allowed, leave the field out");
        }
        return token;
    }
}
