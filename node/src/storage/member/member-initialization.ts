/**
 * Creates the data of a member in an empty directory: of the first member of a new cluster, or of an added one.
 *
 * The order is: log and mirror, then the state, then the identity. A crash before the log is durable leaves the
 * directory empty. After a later crash the next start completes the rest. Before the identity is durable, the member
 * acknowledges nothing and connects to no peer.
 */

import { join } from "node:path";
import { crc32 } from "node:zlib";
import { EntryType, encodeEntry, NO_PROPOSAL_ORIGIN, sealEntry } from "../../raft/index.ts";
import { encodeFounding, type Founding } from "../../state/index.ts";
import { crashPoint, MIRROR_FILE, readMirror, StartFailure, type StoreError } from "../files/index.ts";
import { type Identity, isClusterId, writeIdentity } from "../identity/index.ts";
import { emptyLogMeta, type LogFiles, type LogMeta, SegmentLogStore } from "../log/index.ts";
import { noteCorruption, SUSPECT_LOG, SUSPECT_STATE } from "../recovery/index.ts";
import { makeFirstState, openState, RocksStateStore, tidyStores } from "../state/index.ts";
import { type MemberData, memberData } from "./member-data.ts";

/** An empty directory, with its log open. */
export interface EmptyDirectory {
  readonly directory: string;
  readonly identity: Identity;
  readonly log: LogFiles;
  /** Size of the cache of the state's store, in bytes; a default if it is not given. */
  readonly stateCacheBytes?: number | undefined;
  /** Bytes of a full segment of the log; by default 16 MiB. */
  readonly segmentBytes?: number | undefined;
  readonly onFatal: (error: StoreError) => void;
}

/** A new member and the beginning of its log. */
interface NewMember {
  readonly clusterId: string;
  readonly memberId: number;
  /** Term of the first entry, which the member has voted for; 0 without entries. */
  readonly term: number;
  readonly rows: readonly Uint8Array[];
}

/** Makes the directory the first member of a new cluster. Raises a StoreError, or what the file system raises. */
export function foundCluster(
  empty: EmptyDirectory,
  founding: Founding,
  now: { readonly tickMs: number; readonly wallMs: number },
): Promise<MemberData> {
  const [memberId, term, index] = [1, 1, 1];
  const envelope = { tickMs: now.tickMs, wallMs: now.wallMs, origin: NO_PROPOSAL_ORIGIN };
  const entry = encodeEntry(EntryType.Bootstrap, envelope, encodeFounding(founding));
  sealEntry(entry, term, index, crc32);
  return initializeMember(empty, { clusterId: founding.clusterId, memberId, term, rows: [entry] });
}

/**
 * Makes the directory a member that a cluster has added, with an empty log. Raises what `foundCluster` raises, and a
 * RangeError if the cluster id is not a UUID or the member id is invalid: both come from another process.
 */
export async function joinCluster(empty: EmptyDirectory, clusterId: string, memberId: number): Promise<MemberData> {
  if (!isClusterId(clusterId) || !Number.isSafeInteger(memberId) || memberId < 1) {
    throw new RangeError(`member ${memberId} of cluster "${clusterId}" is not valid`);
  }
  return initializeMember(empty, { clusterId, memberId, term: 0, rows: [] });
}

/** Whether an incomplete birth is a founding. The log of a joining member is empty. */
export function isFounding(meta: LogMeta): boolean {
  return meta.last > 0;
}

async function initializeMember(empty: EmptyDirectory, newMember: NewMember): Promise<MemberData> {
  const { directory, identity, log: files, stateCacheBytes, segmentBytes, onFatal } = empty;
  const { clusterId, memberId, term, rows } = newMember;
  const mirrorPath = join(directory, MIRROR_FILE);
  crashPoint("found.log.before");
  const failure = new StartFailure();
  const log = new SegmentLogStore({
    files,
    mirrorPath,
    meta: { ...emptyLogMeta({ clusterId, memberId, incarnation: identity.incarnation }), boot: 1 },
    // An earlier attempt that lost its log may have left a mirror; this counter must be greater.
    mirror: { counter: readMirror(mirrorPath)?.counter ?? 0, damaged: false, isSoleVoter: rows.length > 0 },
    onFatal: failure.reporting(noteCorruption(directory, SUSPECT_LOG, onFatal)),
    segmentBytes,
  });
  try {
    const vote = term > 0 ? memberId : 0;
    await failure.orDone((done) => {
      log.write({ writeSeq: 1, term, vote, commit: rows.length, from: 1, rows, resetTo: null }, done);
    });
    crashPoint("found.log.after");
    const member = await completeInitialization(directory, identity, log.meta);
    const stateRocks = await openState(directory, stateCacheBytes);
    tidyStores(directory);
    const state = new RocksStateStore(stateRocks, noteCorruption(directory, SUSPECT_STATE, onFatal));
    return memberData(directory, member, { files, log, state, commit: log.meta.commit });
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** Creates what follows the log: an empty state, and the identity. Returns the identity. */
export async function completeInitialization(directory: string, identity: Identity, meta: LogMeta): Promise<Identity> {
  await makeFirstState(directory);
  crashPoint("found.state.after");
  const member: Identity = { ...identity, phase: "member", clusterId: meta.clusterId, memberId: meta.memberId };
  writeIdentity(directory, member);
  crashPoint("found.identity.after");
  return member;
}
