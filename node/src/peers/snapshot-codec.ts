/**
 * Snapshots on the wire: a manifest that names the state and its last entry, chunks of rows, and a trailer that shows
 * the receiver that it has all of them.
 *
 * Each frame has its own checksum; the trailer's digest covers the bodies of all chunks, in order. A body of any other
 * form raises a FrameError.
 */

import type { Row } from "../state/index.ts";
import { BodyReader, BodyWriter, LENGTH_BYTES, NUMBER_BYTES } from "./body-codec.ts";
import { count, encodeJson, jsonReader, object, positive, text } from "./json-body.ts";

export interface SnapshotManifest {
  readonly format: number;
  /** UUID in text form. */
  readonly clusterId: string;
  /** Term of the leader that sends it. */
  readonly term: number;
  /** The last entry whose effects it contains. */
  readonly index: number;
  readonly entryTerm: number;
  /** The cluster version of its rows. */
  readonly clusterVersion: number;
}

export interface SnapshotTrailer {
  readonly chunks: number;
  readonly rows: number;
  /** SHA-256 over the bodies of all chunks, in hexadecimal. */
  readonly sha256: string;
}

const readManifest = jsonReader(
  "a manifest",
  object({
    format: count,
    clusterId: text,
    term: count,
    index: positive,
    entryTerm: count,
    clusterVersion: count,
  }),
);
const readTrailer = jsonReader("a trailer", object({ chunks: count, rows: count, sha256: text }));

export function encodeManifest(manifest: SnapshotManifest): Uint8Array {
  return encodeJson(manifest);
}

/** Raises a FrameError unless the body is a whole manifest. */
export function decodeManifest(body: Uint8Array): SnapshotManifest {
  return readManifest(body);
}

export function encodeChunk(number: number, rows: readonly Row[]): Uint8Array {
  let length = NUMBER_BYTES + LENGTH_BYTES;
  for (const { key, value } of rows) {
    length += 2 * LENGTH_BYTES + key.length + value.length;
  }
  const writer = new BodyWriter(length).number(number).length(rows.length);
  for (const { key, value } of rows) {
    writer.bytes(key).bytes(value);
  }
  return writer.finish();
}

/** Raises a FrameError unless the body is a whole chunk. */
export function decodeChunk(body: Uint8Array): { readonly number: number; readonly rows: readonly Row[] } {
  const read = new BodyReader(body);
  const chunk = { number: read.number(), rows: read.list(() => ({ key: read.bytes(), value: read.bytes() })) };
  read.end();
  return chunk;
}

export function encodeTrailer(trailer: SnapshotTrailer): Uint8Array {
  return encodeJson(trailer);
}

/** Raises a FrameError unless the body is a whole trailer. */
export function decodeTrailer(body: Uint8Array): SnapshotTrailer {
  return readTrailer(body);
}
