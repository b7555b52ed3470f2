/**
 * Succession: a new cluster takes over the state of a former one, after a lost quorum or from a backup.
 *
 * It is a form of the founding entry, at the index after the last entry of the former cluster. So the first member of
 * the new cluster has an id that no member had before (P48). Effects:
 *
 * - The cluster id is new, and the only member is the one that the entry names. The former id is recorded.
 * - The revision jumps ahead. Fencing tokens are revisions, so the new cluster never reuses a revision or token of the
 *   former cluster, even one that this state does not know.
 * - The history is compacted at the new revision: watchers get COMPACTED and list again.
 * - Holds, waits and delays of locks end; the locks stay.
 * - Signing keys are replaced, unless the entry keeps them, so tokens of the former cluster end. Page tokens always
 *   end.
 * - Everything else stays: keys and their deadlines, event logs, memory regions, users, API keys, settings, stored
 *   answers.
 *
 * The entry is applied once, offline, to a copy of the state that no member serves yet. The log of the new cluster
 * begins after it, so no running member ever applies it: members that join later get its effects in a snapshot. So its
 * time may grow with the number of holds and waits, as does its memory: about 1 KiB for each of them.
 *
 * All random and secret values in it were made before; apply only stores them.
 */

import { invariant } from "../../primitives/index.ts";
import {
  keyPair,
  replaceSigningKeys,
  SIGNING_KEY_BYTES,
  type SigningKey,
  writePageTokenKey,
} from "../accounts/index.ts";
import {
  type ApplyContext,
  applyCompactHistory,
  count,
  decodeRow,
  encodeRow,
  fixedBytes,
  formatted,
  INCARNATION_BYTES,
  type MemberAddress,
  memberAddress,
  nullable,
  type Reconfigure,
  readCluster,
  recordOf,
  text,
  writeCluster,
} from "../core/index.ts";
import { resetLocks } from "../locks/index.ts";
import { type SuccessionCause, successionCause, writeFormerCluster } from "./former-clusters.ts";

export interface Succession {
  readonly cause: SuccessionCause;
  /** UUID in text form; not that of the former cluster. */
  readonly clusterId: string;
  readonly clusterName: string;
  readonly memberName: string;
  /** 16 bytes, of the data directory of the first member. */
  readonly incarnation: Uint8Array;
  readonly address: MemberAddress;
  /** Term of the last entry of the former cluster. */
  readonly lastTerm: number;
  /** How many revisions to skip; `revisionJumpObjection` must return null for it. */
  readonly revisionJump: number;
  /** The only signing key from now on; null = the keys of the former cluster stay, and its tokens stay valid. */
  readonly signingKey: Omit<SigningKey, "createdAtMs"> | null;
  /** 32 bytes. */
  readonly pageTokenKey: Uint8Array;
}

/** Far more revisions than a cluster makes between its last backup and its loss, at 10,000 a second for 100 s. */
export const REVISION_JUMP_DEFAULT = 1_000_000;
/** A smaller jump gains nothing, and could give out a revision twice. */
const REVISION_JUMP_MIN = REVISION_JUMP_DEFAULT;
const REVISION_JUMP_MAX = 2 ** 40;
/** The greatest revision after a jump; it leaves enough revisions for every later change. */
const REVISION_AFTER_JUMP_MAX = 2 ** 52;
/** The first byte, which differs from that of other founding entries. */
const FORMAT = 2;

/** Why the revision cannot jump this far, for people; null if it can. */
export function revisionJumpObjection(revision: number, jump: number): string | null {
  if (!Number.isSafeInteger(jump) || jump < REVISION_JUMP_MIN || jump > REVISION_JUMP_MAX) {
    return `must be a whole number from ${REVISION_JUMP_MIN} to ${REVISION_JUMP_MAX}`;
  }
  return revision + jump > REVISION_AFTER_JUMP_MAX
    ? `must be at most ${REVISION_AFTER_JUMP_MAX - revision}, because the revision is ${revision} already`
    : null;
}

/** Whether the payload of a Bootstrap entry is a succession. */
export function isSuccession(payload: Uint8Array): boolean {
  return payload[0] === FORMAT;
}

const successionFields = formatted(
  FORMAT,
  "successions have a known format",
  recordOf<Succession>({
    cause: successionCause,
    clusterId: text,
    clusterName: text,
    memberName: text,
    incarnation: fixedBytes(INCARNATION_BYTES),
    address: memberAddress,
    lastTerm: count,
    revisionJump: count,
    signingKey: nullable(keyPair),
    pageTokenKey: fixedBytes(SIGNING_KEY_BYTES),
  }),
);

export function encodeSuccession(succession: Succession): Uint8Array {
  return encodeRow(successionFields, succession);
}

export function decodeSuccession(bytes: Uint8Array): Succession {
  return decodeRow(successionFields, bytes);
}

/** The first member's id is the index of this entry. */
export function applySuccession(context: ApplyContext, succession: Succession, reconfigure: Reconfigure): void {
  const { transaction, revision } = context;
  const { revisionJump, signingKey } = succession;
  const objection = revisionJumpObjection(revision, revisionJump);
  invariant(objection === null, "the revision jumps ahead, and has room to grow", () => String(objection));
  takeOver(context, succession, reconfigure);
  resetLocks(context);
  context.skipRevisions(revisionJump);
  applyCompactHistory(context, context);
  if (signingKey !== null) {
    replaceSigningKeys(context, signingKey);
  }
  writePageTokenKey(transaction, succession.pageTokenKey);
}

/** Replaces the membership, and records the former cluster. */
function takeOver(context: ApplyContext, succession: Succession, reconfigure: Reconfigure): void {
  const { transaction, index } = context;
  const former = readCluster(transaction);
  const { clusterId, clusterName: name, memberName, incarnation, address } = succession;
  invariant(former !== undefined && former.clusterId !== clusterId, "a new cluster succeeds a founded one");
  const configuration = reconfigure(index, { type: "bootstrap" }, 0);
  invariant(typeof configuration !== "string", "the log of a new cluster begins without members", () =>
    String(configuration),
  );
  const members = [{ id: index, name: memberName, address, incarnation }];
  writeCluster(transaction, { clusterId, name, version: former.version, configuration, members });
  writeFormerCluster(transaction, {
    clusterId: former.clusterId,
    cause: succession.cause,
    lastIndex: index - 1,
    lastTerm: succession.lastTerm,
    revision: context.revision,
    successorId: clusterId,
    endedAtMs: context.wallMs,
  });
}
