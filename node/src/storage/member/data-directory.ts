/**
 * The data directory of one member: opens it, and decides whether and how the member starts.
 *
 * A start never guesses. If the data is not understood, is in use by another process or belongs to another member, the
 * start serves nothing and reports the problem and the remedy. It never deletes data, and never treats a damaged store
 * as empty. In a cluster of several members, a member that lost acknowledged data but knows its vote continues without
 * a vote.
 *
 * Contents of a healthy directory: `identity` · `fence` · `log/` · `state` (name of the live state directory) ·
 * `state-<n>/`; after damage also `lost-<n>/`, the stores that were put aside; after a recovery also
 * `former-cluster-<id>/`, the data of the cluster from before.
 */

import { mkdirSync, readdirSync } from "node:fs";
import { invariant } from "../../primitives/index.ts";
import type { Founding } from "../../state/index.ts";
import { DIRECTORY_MODE, StoreError } from "../files/index.ts";
import {
  createIdentity,
  type Identity,
  isIdentityDraft,
  lostForGood,
  mintIdentity,
  Refused,
  type RefusedState,
  readIdentity,
  retired,
} from "../identity/index.ts";
import { type LogFiles, openLog } from "../log/index.ts";
import { catchDamage, completeRestoration, SUCCESSION_LOCK, unfinishedSuccession } from "../recovery/index.ts";
import { SUCCESSOR_DRAFT } from "../state/index.ts";
import type { MemberData } from "./member-data.ts";
import { completeInitialization, foundCluster, isFounding, joinCluster } from "./member-initialization.ts";
import { type FillRestoration, foundFromBackup } from "./member-restore.ts";
import { type Closable, startMember } from "./member-start.ts";

export interface DataDirectoryOptions {
  readonly directory: string;
  readonly clusterName: string;
  /** Name of the member; must be that of the directory if it has an identity. */
  readonly name: string;
  /**
   * Starts without a mirror if both its slots are lost. Only for the sole voter of a cluster, and only if a person asks
   * for it: without the mirror the start cannot detect that acknowledged writes are lost.
   */
  readonly acceptMissingFence: boolean;
  /** Size of the cache of the state's store, in bytes; a default if it is not given. */
  readonly stateCacheBytes?: number | undefined;
  /** Bytes of a full segment of the log; by default 16 MiB. */
  readonly segmentBytes?: number | undefined;
  /** Called when a store fails while the member runs, possibly more than once; the process must end. */
  readonly onFatal: (error: StoreError) => void;
}

/** What this start found in the directory. */
export type DataDirectory =
  | {
      readonly phase: "empty";
      readonly identity: Identity;
      /** Makes this directory the first member of a new cluster; durable when the promise is fulfilled. */
      found(founding: Founding, now: { readonly tickMs: number; readonly wallMs: number }): Promise<MemberData>;
      /**
       * Makes this directory the member that a cluster has added for it, with an empty log; durable when the promise is
       * fulfilled. The caller must call only one of `found` and `join`, and only once. Raises a RangeError, having
       * changed nothing, if the ids are invalid.
       */
      join(clusterId: string, memberId: number): Promise<MemberData>;
      /**
       * Makes this directory the first member of a new cluster, with the state of a backup; durable when the promise is
       * fulfilled. Raises what `fill` raises, and Refused. After an error the directory is empty as before and usable
       * again.
       */
      restore(fill: FillRestoration): Promise<MemberData>;
      close(): Promise<void>;
    }
  | { readonly phase: "member"; readonly data: MemberData }
  | {
      readonly phase: "refused";
      readonly state: RefusedState;
      readonly reason: string;
      readonly identity: Identity | null;
    };

/**
 * Names that are not data: `lost+found` of a new file system, and leftovers of a restore that crashed before its
 * decision.
 */
const NOT_DATA = new Set(["lost+found", SUCCESSOR_DRAFT, SUCCESSION_LOCK]);

/**
 * Opens the directory, creates an identity if it is new, and judges its contents.
 * Raises a StoreError of kind "locked" if another process uses it, of kind "io" if the disk fails.
 */
export async function openDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  const { directory } = options;
  let identity: Identity | null = null;
  const opened: Closable[] = [];
  try {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    await completeRestoration(directory);
    requireNoSuccession(directory);
    identity = readIdentity(directory);
    if (identity === null) {
      requireEmpty(directory);
      createIdentity(directory, mintIdentity(options.clusterName, options.name));
    } else {
      requireServable(options, identity);
    }
    const isNew = identity === null || identity.phase === "empty";
    const log = isNew
      ? { value: await openLog(directory, true), damage: null }
      : await catchDamage(() => openLog(directory, false));
    if (log.value !== null) {
      opened.push(log.value);
    }
    // Read again while holding the log's lock: another start may just have created the identity, or founded a
    // cluster.
    requireNoSuccession(directory);
    identity = readIdentity(directory);
    invariant(identity !== null, "the identity stays once it is written");
    requireServable(options, identity);
    if (identity.phase === "empty") {
      invariant(log.value !== null, "a new log opens or raises");
      return await openEmpty(options, identity, log.value, opened);
    }
    const soleVoterWithoutMirror = options.acceptMissingFence ? true : null;
    const { onFatal, stateCacheBytes, segmentBytes } = options;
    const start = { directory, identity, soleVoterWithoutMirror, onFatal, stateCacheBytes, segmentBytes };
    return { phase: "member", data: await startMember(start, log, opened) };
  } catch (error) {
    for (const store of opened.reverse()) {
      await store.close();
    }
    const refused = asRefused(directory, error);
    if (refused === null) {
      throw asStoreError(directory, error);
    }
    return { phase: "refused", state: refused.state, reason: refused.message, identity };
  }
}

/**
 * Opens an empty directory. If a crash interrupted founding or joining after its log was durable, completes that first.
 */
async function openEmpty(
  options: DataDirectoryOptions,
  identity: Identity,
  log: LogFiles,
  opened: Closable[],
): Promise<DataDirectory> {
  const { directory, stateCacheBytes, segmentBytes, onFatal } = options;
  if (log.meta === null) {
    const empty = { directory, identity, log, stateCacheBytes, segmentBytes, onFatal };
    return {
      phase: "empty",
      identity,
      found: (founding, now) => orStoreError(directory, foundCluster(empty, founding, now)),
      join: (clusterId, memberId) => orStoreError(directory, joinCluster(empty, clusterId, memberId)),
      restore: (fill) => orStoreError(directory, foundFromBackup(empty, fill)),
      close: () => log.close(),
    };
  }
  const { meta } = log;
  const member = await completeInitialization(directory, identity, meta);
  // Nothing was acknowledged yet, so a missing mirror hides no loss.
  const soleVoterWithoutMirror = isFounding(meta);
  const start = { directory, identity: member, soleVoterWithoutMirror, stateCacheBytes, segmentBytes, onFatal };
  return { phase: "member", data: await startMember(start, { value: log, damage: null }, opened) };
}

async function orStoreError<T>(directory: string, action: Promise<T>): Promise<T> {
  try {
    return await action;
  } catch (error) {
    throw asStoreError(directory, error);
  }
}

/** Converts file system errors to a StoreError of kind "io"; returns any other error unchanged. */
function asStoreError(directory: string, error: unknown): unknown {
  if (error instanceof Error && "syscall" in error) {
    return new StoreError("io", `${directory} cannot be used: ${error.message}`, { cause: error });
  }
  return error;
}

/** Why the directory is not served, if the error says so; null for any other error. */
function asRefused(directory: string, error: unknown): Refused | null {
  if (error instanceof StoreError && (error.kind === "corruption" || error.kind === "missing")) {
    return lostForGood(directory, error.message);
  }
  return error instanceof Refused ? error : null;
}

function requireEmpty(directory: string): void {
  const found = readdirSync(directory).filter((name) => !NOT_DATA.has(name) && !isIdentityDraft(name));
  // A concurrent start may have created the identity since the first read.
  if (found.length > 0 && readIdentity(directory) === null) {
    throw new Refused(
      "MEMBER_REFUSED",
      `${directory} has no identity and is not empty (it holds ${found.slice(0, 5).join(", ")}). It is left as it is; ` +
        "name an empty directory, or restore the file `identity`",
    );
  }
}

/** Raises Refused if a succession was decided and is not complete. */
function requireNoSuccession(directory: string): void {
  const unfinished = unfinishedSuccession(directory);
  if (unfinished !== null) {
    throw new Refused("MEMBER_REFUSED", unfinished);
  }
}

/** Raises Refused unless the directory belongs to this member and was not retired. */
function requireServable({ directory, name, clusterName }: DataDirectoryOptions, identity: Identity): void {
  if (identity.name !== name || identity.clusterName !== clusterName) {
    throw new Refused(
      "MEMBER_REFUSED",
      `${directory} belongs to member "${identity.name}" of cluster "${identity.clusterName}", ` +
        `not to "${name}" of "${clusterName}"`,
    );
  }
  if (identity.phase === "removed" || identity.phase === "refused") {
    throw retired(directory, identity.phase, identity.reason);
  }
}
