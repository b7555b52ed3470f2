/**
 * Restores at random points of a history, with the code of `quoin-node restore`. The rebuilt state has the digest that
 * the cluster had at that index. The restore has compared every digest that the archive records up to there. The result
 * opens as the data of a member.
 */

import { join } from "node:path";
import { type KeyRing, openStore, planRestore, type RestorePoint, readCatalog } from "@quoin/backup";
import { expect } from "chai";
import { rebuild } from "../../src/rebuild/index.ts";
import { readCluster, readProgress } from "../../src/state/index.ts";
import { openDataDirectory, placeSuccessor, Restoration } from "../../src/storage/index.ts";
import { type History, type HistoryProgress, indexAt } from "./archived-history.ts";
import { countRecordedDigests } from "./recorded-digests.ts";

const NEW_ID = "77777777-2222-4333-8444-555555555555";
const MEMBER = {
  clusterName: "restored",
  name: "q-0",
  address: { peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "" },
};
const REVISION_JUMP = 1_000_000;

/** A number from 0 to below the limit. */
type Below = (below: number) => number;

/** A point of the history; revisions and times alternate. */
export function randomPoint({ progress, rows, snapshots }: History, number: number, below: Below): RestorePoint {
  const first = Math.min(...snapshots.keys());
  const { revision, wallMs } = progress[first + below(rows.length - first + 1)] as HistoryProgress;
  return number % 2 === 0 ? { kind: "revision", revision } : { kind: "time", wallMs };
}

export interface RestoredPoint {
  readonly index: number;
  readonly entries: number;
  readonly digestsCompared: number;
}

/** Restores from the store into the directory, and compares. Throws an error if anything differs. */
export async function restorePoint(
  history: History,
  point: RestorePoint,
  from: {
    readonly store: string;
    readonly keyRing: KeyRing;
    readonly directory: string;
    /** Whether the restore is completed too, and opened as the data of a member. */
    readonly opens: boolean;
  },
): Promise<RestoredPoint> {
  const store = await openStore({ kind: "directory", directory: from.store }, { create: false });
  const restoration = await Restoration.begin(from.directory);
  const plan = planRestore(await readCatalog(store), point);
  const unseal = { keyRing: from.keyRing };
  const objects = { store, objects: plan, decryptOptions: unseal };
  const rebuilt = await rebuild({ ...objects, point, state: restoration.state });
  const index = indexAt(history, plan.snapshot.index, point);
  const recorded = await countRecordedDigests({ ...objects, index });
  await store.close();
  expect(rebuilt.digestsCompared, `digests compared, ${JSON.stringify(point)}`).to.equal(recorded);
  const { appliedIndex, revision, digest } = history.progress[index] as HistoryProgress;
  const { progress } = rebuilt;
  expect([progress.appliedIndex, progress.revision, progress.digest], JSON.stringify(point)).to.deep.equal([
    ...[appliedIndex, revision, digest],
  ]);
  if (!from.opens) {
    await restoration.abandon();
    return { index, entries: rebuilt.entries, digestsCompared: rebuilt.digestsCompared };
  }
  const wallMs = progress.wallMs + 1;
  const plans = {
    cause: "restore",
    clusterId: NEW_ID,
    revisionJump: REVISION_JUMP,
    signingKey: null,
    owner: null,
  } as const;
  const secrets = { pageTokenKey: new Uint8Array(32).fill(7), wallMs };
  await restoration.complete({ ...plans, ...secrets }, MEMBER);
  placeSuccessor(from.directory);
  await expectMember(from.directory, index + 1, revision + REVISION_JUMP);
  return { index, entries: rebuilt.entries, digestsCompared: rebuilt.digestsCompared };
}

async function expectMember(directory: string, memberId: number, revision: number): Promise<void> {
  const opened = await openDataDirectory({
    directory,
    clusterName: MEMBER.clusterName,
    name: MEMBER.name,
    acceptMissingFence: false,
    onFatal: (error) => {
      throw error;
    },
  });
  if (opened.phase !== "member") {
    throw new Error(`${join(directory)} is not the data of a member: ${opened.phase}`);
  }
  const { data } = opened;
  try {
    expect(data.identity).to.include({ clusterId: NEW_ID, memberId, phase: "member" });
    expect(data.damaged).to.equal(false);
    expect(readCluster(data.state)?.configuration.voters).to.deep.equal([memberId]);
    expect(readProgress(data.state).revision).to.equal(revision);
  } finally {
    await data.close();
  }
}
