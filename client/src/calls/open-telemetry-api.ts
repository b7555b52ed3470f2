/**
 * The parts of `@opentelemetry/api` that the SDK uses, for `import()` of this file. The package itself is CommonJS, and a
 * bundle gives `import()` of CommonJS no names.
 */

export { context, isSpanContextValid, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
