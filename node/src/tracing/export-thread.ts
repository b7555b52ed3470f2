/**
 * The entry point of a worker thread that exports spans by OTLP. In a thread of their own, encoding and the library
 * delay no request, and an error in the library ends only this thread.
 */

import { parentPort, workerData } from "node:worker_threads";
import { OtlpExporter, type OtlpOptions } from "./otlp-exporter.ts";
import type { Span } from "./span.ts";

export interface ExportThreadData {
  readonly options: OtlpOptions;
}

export type ExportRequest =
  /** `offsetMs` is the wall clock minus the monotonic clock of the spans, in milliseconds. */
  { readonly spans: readonly Span[]; readonly offsetMs: number } | "shutdown";

/** The answer to each batch: why it failed, or null. */
export interface ExportReply {
  readonly problem: string | null;
}

const port = parentPort;
if (port === null) {
  throw new Error("export-thread.ts is the entry point of a worker thread");
}
const { options } = workerData as ExportThreadData;
const exporter = new OtlpExporter(options);
port.on("message", (request: ExportRequest) => {
  if (request === "shutdown") {
    void exporter.shutdown().then(() => port.close());
  } else {
    exporter.export(request.spans, request.offsetMs, (problem) => port.postMessage({ problem } satisfies ExportReply));
  }
});
