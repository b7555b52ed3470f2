/** Fields in the form of the gRPC library. */
import { Metadata } from "@grpc/grpc-js";
import type { Replayed } from "../../state/index.ts";
import { replayedField } from "../calls/index.ts";

/** Makes metadata from fields: name, value, name, value, …; values of names that end with -bin are in base64. */
export function metadataOf(fields: readonly string[]): Metadata {
  const metadata = new Metadata();
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = fields.slice(at, at + 2) as [string, string];
    metadata.set(name, name.endsWith("-bin") ? Buffer.from(value, "base64") : value);
  }
  return metadata;
}

/** Returns metadata that mark the answer of an earlier attempt; null for any other answer. */
export function replayedMetadata(replayed: Replayed): Metadata | null {
  return replayed === "no" ? null : metadataOf(replayedField(replayed));
}
