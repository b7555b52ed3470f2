/** The encodings of OTLP over HTTP, by the names that OTEL_EXPORTER_OTLP_PROTOCOL has for them. */

export const OTLP_PROTOCOLS = ["http/protobuf", "http/json"] as const;
export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];
