/**
 * A golden snapshot between members: the bodies of its frames, in their order, as a leader sends the state at the mark. One
 * line of JSON for each frame.
 */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { encodeChunk, encodeManifest, encodeTrailer, FrameType } from "../../src/peers/index.ts";
import { invariant } from "../../src/primitives/index.ts";
import { SNAPSHOT_FORMAT } from "../../src/replica/index.ts";
import { readCluster, readProgress } from "../../src/state/index.ts";
import { rowsOf } from "../index.ts";
import type { GoldenEntry } from "./log-file.ts";
import { replay } from "./state-at.ts";

export interface GoldenFrame {
  /** Number of the type of frame. */
  readonly type: number;
  readonly body: Uint8Array;
}

/** Small enough that there are several chunks. */
const ROWS_PER_CHUNK = 60;

export function makeFrames(entries: readonly GoldenEntry[], mark: number): GoldenFrame[] {
  const { store } = replay(entries.slice(0, mark).map(({ bytes }) => bytes));
  const { appliedIndex: index, appliedTerm: term } = readProgress(store);
  const cluster = readCluster(store);
  invariant(cluster !== undefined, "the state is that of a cluster");
  const { clusterId, version: clusterVersion } = cluster;
  const about = { format: SNAPSHOT_FORMAT, clusterId, term: term + 1, index, entryTerm: term, clusterVersion };
  const rows = rowsOf(store);
  const chunks: Uint8Array[] = [];
  const digest = createHash("sha256");
  for (let at = 0; at < rows.length; at += ROWS_PER_CHUNK) {
    const body = encodeChunk(chunks.length, rows.slice(at, at + ROWS_PER_CHUNK));
    digest.update(body);
    chunks.push(body);
  }
  const trailer = encodeTrailer({ chunks: chunks.length, rows: rows.length, sha256: digest.digest("hex") });
  return [
    { type: FrameType.SnapshotManifest, body: encodeManifest(about) },
    ...chunks.map((body) => ({ type: FrameType.SnapshotChunk, body })),
    { type: FrameType.SnapshotTrailer, body: trailer },
  ];
}

export function writeFrames(path: string, frames: readonly GoldenFrame[]): void {
  const lines = frames.map(({ type, body }) => JSON.stringify({ type, body: Buffer.from(body).toString("base64") }));
  writeFileSync(path, `${lines.join("\n")}\n`);
}

export function readFrames(path: string): GoldenFrame[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const { type, body } = JSON.parse(line) as { readonly type: number; readonly body: string };
    return { type, body: Buffer.from(body, "base64") };
  });
}
