package io.github.roost.server;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.function.Function;

/** Accepts 5.0 as an integer, as JSON Schema does, and rejects 5.5 instead of truncating it. */
final class WholeNumbers extends SimpleModule {
    private static final long serialVersionUID = 1;

    WholeNumbers() {
        addDeserializer(Integer.class, new Exact<>(Integer.class, BigDecimal::intValueExact));
        addDeserializer(Long.class, new Exact<>(Long.class, BigDecimal::longValueExact));
    }

    private static final class Exact<T> extends StdDeserializer<T> {
        private static final long serialVersionUID = 1;

        private final transient Function<BigDecimal, T> exactly;

        Exact(Class<T> type, Function<BigDecimal, T> exactly) {
            super(type);
            this.exactly = exactly;
        }

        @Override
        public T deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            JsonToken token = parser.currentToken();
            if (token != JsonToken.VALUE_NUMBER_INT && token != JsonToken.VALUE_NUMBER_FLOAT) {
                return context.reportInputMismatch(this, "must be a whole number");
            }
            try {
                return exactly.apply(parser.getDecimalValue());
            } catch (ArithmeticException | NumberFormatException e) {
                return context.reportInputMismatch(
                        this, "must be a whole number of %d bits", handledType() == Long.class ? 64 : 32);
            }
        }
    }
}
