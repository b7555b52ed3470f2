/** The metadata of every call. */

import { Metadata } from "@grpc/grpc-js";
import type { TraceHeaders } from "./tracing.ts";

/** The API version of this client. */
const API_VERSION = "v1";

/**
 * The metadata of a call, with the headers of its trace.
 *
 * @param token empty = none.
 */
export function callMetadata(token: string, requestId: string, trace: TraceHeaders = {}): Metadata {
  const metadata = new Metadata();
  if (token !== "") {
    metadata.set("authorization", `Bearer ${token}`);
  }
  metadata.set("api-version", API_VERSION);
  metadata.set("request-id", requestId);
  for (const name in trace) {
    metadata.set(name, trace[name] ?? "");
  }
  return metadata;
}
