/**
 * A golden backup: a snapshot of the state at the mark, and two segments behind it that reach the end of the log; once as
 * they are, once sealed with a key that lies beside them. The same objects are in both stores.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type KeyRing,
  openStore,
  type PutObject,
  parseKeys,
  putSegment,
  putSnapshot,
  type SegmentHeader,
  type SnapshotHeader,
} from "@quoin/backup";
import { invariant } from "../../src/primitives/index.ts";
import { entryTerm, entryWallMs } from "../../src/raft/index.ts";
import { CLUSTER_VERSION, readCluster, readProgress } from "../../src/state/index.ts";
import { rowsOf } from "../index.ts";
import type { GoldenEntry } from "./log-file.ts";
import { replay } from "./state-at.ts";

export const PLAIN = "plain";
export const SEALED = "sealed";
export const KEY_FILE = "TEST-KEY-not-secret.txt";

const KEY_LINE = `golden:${Buffer.alloc(32, 0x6b).toString("base64")}`;
const KEY_TEXT = `# The key of golden backups. It stands in a public repository: use it for nothing else.\n${KEY_LINE}\n`;

export async function makeBackups(
  directory: string,
  entries: readonly GoldenEntry[],
  mark: number,
  quoinVersion: string,
): Promise<void> {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, KEY_FILE), KEY_TEXT);
  const keyRing = parseKeys(Buffer.from(KEY_TEXT), KEY_FILE);
  await makeBackup(join(directory, PLAIN), entries, mark, quoinVersion, undefined);
  await makeBackup(join(directory, SEALED), entries, mark, quoinVersion, keyRing);
}

async function makeBackup(
  directory: string,
  entries: readonly GoldenEntry[],
  mark: number,
  quoinVersion: string,
  keyRing: KeyRing | undefined,
): Promise<void> {
  const store = await openStore({ kind: "directory", directory }, { create: true });
  const { store: state } = replay(entries.slice(0, mark).map(({ bytes }) => bytes));
  const cluster = readCluster(state);
  invariant(cluster !== undefined, "the state is that of a cluster");
  const origin = {
    clusterId: cluster.clusterId,
    clusterName: cluster.name,
    quoinVersion,
    clusterVersion: CLUSTER_VERSION,
  };
  const { appliedIndex: index, appliedTerm: term, revision, tickMs, wallMs, digest } = readProgress(state);
  const header: SnapshotHeader = {
    ...origin,
    id: objectId(1),
    index,
    term,
    revision,
    tickMs,
    wallMs,
    stateDigest: digest,
  };
  let previous = { id: header.id, ...(await putSnapshot(store, header, [rowsOf(state)], keyRing)) };
  const middle = mark + Math.ceil((entries.length - mark) / 2);
  for (const [number, [from, to]] of [
    [mark, middle],
    [middle, entries.length],
  ].entries()) {
    const part = entries.slice(from, to);
    const segment = segmentOf(origin, objectId(2 + number), part, previous);
    const records = part.map(({ index: at, bytes }) => ({ index: at, term: entryTerm(bytes), bytes }));
    previous = { id: segment.id, ...(await putSegment(store, segment, [records], keyRing)) };
  }
  await store.close();
}

function segmentOf(
  origin: Pick<SegmentHeader, "clusterId" | "clusterName" | "quoinVersion" | "clusterVersion">,
  id: string,
  entries: readonly GoldenEntry[],
  previous: PutObject & { readonly id: string },
): SegmentHeader {
  const [first, last] = [entries.at(0), entries.at(-1)];
  invariant(first !== undefined && last !== undefined, "a segment has entries");
  return {
    ...origin,
    id,
    firstIndex: first.index,
    lastIndex: last.index,
    firstTerm: entryTerm(first.bytes),
    lastTerm: entryTerm(last.bytes),
    firstRevision: first.revision,
    lastRevision: last.revision,
    firstWallMs: entryWallMs(first.bytes),
    lastWallMs: entryWallMs(last.bytes),
    stateDigest: last.digest,
    previousId: previous.id,
    previousHash: previous.hash,
  };
}

/** Ids are random where no test needs the same ones twice. */
function objectId(number: number): string {
  return number.toString(16).padStart(32, "0");
}
