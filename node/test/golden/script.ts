/**
 * The script of the golden log: what is asked of a cluster, in which order. Every kind of entry and command occurs in it,
 * refused ones and retries too, and the state at its mark has rows of every table.
 *
 * A new kind of command or table gets its steps here. Golden files that exist are never made again: the new steps are in
 * the files of the next version.
 */

import { REVISION_JUMP_DEFAULT } from "../../src/state/index.ts";
import { writeAccounts } from "./account-steps.ts";
import { GUARD_LOCK, writeCoordination } from "./coordination-steps.ts";
import { done, GoldenLog, refusedWith } from "./golden-log.ts";
import {
  ANNA,
  ANNA_PASSWORD,
  CLUSTER_NAME,
  FOUNDING_ADDRESS,
  goldenFounding,
  MEMBER_NAME,
  OWNER,
  passwordHashOf,
  SUCCESSOR_IDS,
  signingKeyOf,
} from "./identities.ts";
import { writeMaintenance, writeMembership } from "./membership-steps.ts";
import { writeNamespaces } from "./namespace-steps.ts";
import { writeSessions } from "./session-steps.ts";
import { writeStorage } from "./storage-steps.ts";
import { writeTransactions } from "./transaction-steps.ts";

export interface GoldenScript {
  readonly log: GoldenLog;
  /** Index of the entry after which the state has rows of every table. */
  readonly mark: number;
  /** Index of the last entry of the cluster. What follows are the entries by which new clusters take its state over. */
  readonly end: number;
}

/** Founds the cluster, and writes entries of every kind. Returns the token of the owner's hold of the lock that guards. */
export async function writeCluster(log: GoldenLog): Promise<number> {
  log.found(await goldenFounding());
  writeAccounts(log, await passwordHashOf(ANNA_PASSWORD));
  writeMembership(log);
  const token = writeCoordination(log);
  writeNamespaces(log);
  writeStorage(log, token);
  writeTransactions(log, token);
  writeSessions(log);
  writeMaintenance(log);
  return token;
}

export async function runScript(): Promise<GoldenScript> {
  const log = new GoldenLog();
  const token = await writeCluster(log);
  const request = writeLast(log, token);
  const mark = log.index;
  writeBehindMark(log, token, request);
  const end = log.index;
  writeSuccessions(log);
  return { log, mark, end };
}

const PUT = {
  kind: "put-key",
  namespace: "golden",
  value: Buffer.from("value"),
  ttlSeconds: 0,
  expectedModRevision: undefined,
  returnPrevious: false,
} as const;

/** What there must be at the mark, now that the windows of earlier requests have ended. Returns a request id to repeat. */
function writeLast(log: GoldenLog, token: number): number {
  const request = log.newRequest();
  done(log.client({ ...PUT, key: Buffer.from("repeated"), returnPrevious: true }, OWNER, request));
  const acquire = {
    kind: "acquire-lock",
    namespace: "golden",
    name: GUARD_LOCK,
    mode: "exclusive",
    owner: "",
  } as const;
  log.client({ ...acquire, ttlSeconds: 0, waitMs: 3_000_000, fencingToken: 0 }, ANNA);
  done(log.client({ ...acquire, ttlSeconds: 7_200, waitMs: 0, fencingToken: token }));
  return request;
}

/** What a member that stops at the mark has in its log and not in its state. */
function writeBehindMark(log: GoldenLog, token: number, request: number): void {
  log.lead();
  log.client({ ...PUT, key: Buffer.from("repeated"), returnPrevious: true }, OWNER, request);
  const guard = { lockName: GUARD_LOCK, fencingToken: token, rw: false };
  done(log.client({ ...PUT, key: Buffer.from("behind the mark"), guard }));
  refusedWith("REVISION_MISMATCH", log.client({ ...PUT, key: Buffer.from("first"), expectedModRevision: 0 }));
  log.membership({ kind: "add-slot", name: "member-4" });
  const release = { kind: "release-lock", namespace: "golden", rw: false, name: GUARD_LOCK, mode: null } as const;
  done(log.client({ ...release, owner: "", fencingToken: token }, OWNER));
  refusedWith("FENCED", log.client({ ...PUT, key: Buffer.from("too late"), guard }));
  log.cluster({ kind: "erase-memory", rowsMax: 2 });
  log.cluster({ kind: "erase-logs", rowsMax: 1 });
  log.cluster({ kind: "trim-history", countMax: 2 });
  log.cluster({ kind: "tick" });
}

/** Both forms: after a lost quorum with new signing keys, from a backup with those that there are. */
function writeSuccessions(log: GoldenLog): void {
  const [address, revisionJump] = [FOUNDING_ADDRESS, REVISION_JUMP_DEFAULT];
  const incarnation = new Uint8Array(16).fill(0x65);
  const common = { clusterName: CLUSTER_NAME, memberName: MEMBER_NAME, incarnation, address, revisionJump };
  log.succeed({
    ...common,
    cause: "recovery",
    clusterId: SUCCESSOR_IDS[0],
    signingKey: signingKeyOf(4),
    pageTokenKey: new Uint8Array(32).fill(0x71),
  });
  log.succeed({
    ...common,
    cause: "restore",
    clusterId: SUCCESSOR_IDS[1],
    signingKey: null,
    pageTokenKey: new Uint8Array(32).fill(0x72),
  });
}
