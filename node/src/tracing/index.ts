/** Traces: the times of requests, the timeline of the log, and the spans that are made of them and exported. */

export { OTLP_PROTOCOLS, type OtlpProtocol } from "./otlp-protocol.ts";
export { type RequestEnd, RequestTrace } from "./request-trace.ts";
export { SAMPLER_NAMES, type SamplerName, type SamplerOptions } from "./sampler.ts";
export { Timeline } from "./timeline.ts";
export { traceContextOf } from "./trace-context.ts";
export { TRACE_METRICS, type TraceStatistics } from "./trace-metrics.ts";
export { type TracePeers, Tracer } from "./tracer.ts";
export { Tracing, type TracingConfiguration } from "./tracing.ts";
