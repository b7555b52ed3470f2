/** Fields as the gRPC library has them. */
import { Metadata } from "@grpc/grpc-js";
import type { Replayed } from "../../state/index.ts";
import { replayedField } from "../calls/index.ts";

/** The metadata of fields that are name, value, name, value, …, those of names that end with -bin in base64. */
export function metadataOf(fields: readonly string[]): Metadata {
  const metadata = new Metadata();
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = fields.slice(at, at + 2) as [string, string];
    metadata.set(name, name.endsWith("-bin") ? Buffer.from(value, "base64") : value);
  }
  return metadata;
}

/** Metadata that says that an answer is that of an earlier attempt; null if it is not. */
export function replayedMetadata(replayed: Replayed): Metadata | null {
  return replayed === "no" ? null : metadataOf(replayedField(replayed));
}
