/** The results of commands: what an answer contains if the command was not refused. */

import type { Hold } from "./lock-fields.ts";
import type { ApiKey, EventLog, StoredKey, User } from "./objects.ts";
import type { SequenceRuns } from "./sequence-runs.ts";

/** Bytes of a region's id, which is a UUID. */
export const REGION_ID_BYTES = 16;

export interface CreateNamespaceResult {
  readonly kind: "create-namespace";
  readonly createdAtMs: number;
  readonly revision: number;
}

export interface PutKeyResult {
  readonly kind: "put-key";
  readonly modRevision: number;
  readonly created: boolean;
  readonly previous: StoredKey | null;
  readonly revision: number;
}

export interface DeleteKeyResult {
  readonly kind: "delete-key";
  readonly previous: StoredKey | null;
  readonly revision: number;
}

export interface CompareAndSwapResult {
  readonly kind: "compare-and-swap";
  readonly success: boolean;
  /** The current key: the new value on success, else the value that did not match. */
  readonly currentExists: boolean;
  readonly currentValue: Uint8Array;
  readonly modRevision: number;
  readonly revision: number;
}

export interface TouchKeyResult {
  readonly kind: "touch-key";
  readonly modRevision: number;
  /** Cluster tick at which the key may expire, in milliseconds; 0 = never. */
  readonly deadlineMs: number;
  readonly revision: number;
}

export interface CreateLockResult {
  readonly kind: "create-lock";
  readonly createdAtMs: number;
  readonly revision: number;
}

export interface ReleaseLockResult {
  readonly kind: "release-lock";
  readonly revision: number;
}

export interface ForceReleaseLockResult {
  readonly kind: "force-release-lock";
  /** The hold that ended; of several readers, the one granted first; null = none ended. */
  readonly previous: Hold | null;
  readonly revision: number;
}

/** `cooldown`: no caller holds it, and its delay after an expired or forced hold has not ended. */
export type LockState = "free" | "held" | "read-held" | "write-held" | "cooldown";

/** The answer to an acquisition, as of the entry that it answers (S23). */
export interface AcquireLockResult {
  readonly kind: "acquire-lock";
  /** The requested hold; null = the caller did not get it. */
  readonly hold: Hold | null;
  /** The first live holds in the order of their grants, and that one. */
  readonly holds: readonly Hold[];
  readonly state: LockState;
  readonly queueLength: number;
  /** Cluster ticks from the entry of the newest attempt to the grant, in milliseconds. */
  readonly waitedMs: number;
  /** The cluster tick from which the remaining times of holds count. */
  readonly tickMs: number;
  readonly revision: number;
}

/** The acquisition waits in the state: it has no answer yet, and a later entry gives one. */
export interface QueuedLockResult {
  readonly kind: "queued-lock";
  readonly revision: number;
}

export interface AllocateMemoryResult {
  readonly kind: "allocate-memory";
  readonly regionId: Uint8Array;
  readonly sizeBytes: number;
  readonly version: number;
  readonly revision: number;
}

export interface ResizeMemoryResult {
  readonly kind: "resize-memory";
  readonly sizeBytes: number;
  readonly previousSizeBytes: number;
  readonly version: number;
  readonly revision: number;
}

export interface FreeMemoryResult {
  readonly kind: "free-memory";
  readonly revision: number;
}

export interface WriteMemoryResult {
  readonly kind: "write-memory";
  readonly bytesWritten: number;
  readonly version: number;
  readonly revision: number;
}

export interface CreateLogResult {
  readonly kind: "create-log";
  readonly log: EventLog;
  readonly revision: number;
}

export interface UpdateLogSettingsResult {
  readonly kind: "update-log-settings";
  readonly log: EventLog;
  readonly revision: number;
}

export interface DeleteLogResult {
  readonly kind: "delete-log";
  readonly logId: Uint8Array;
  readonly revision: number;
}

export interface AppendEventsResult {
  readonly kind: "append-events";
  readonly logId: Uint8Array;
  /** Of all events in order, including those stored before; see `sequencesOf`. */
  readonly runs: SequenceRuns;
  /** The greatest sequence. */
  readonly lastSequence: number;
  /** Events newly stored, and bytes of their payloads. */
  readonly appendedEvents: number;
  readonly appendedBytes: number;
  readonly revision: number;
}

export type LogResult = CreateLogResult | UpdateLogSettingsResult | DeleteLogResult | AppendEventsResult;

/** A user was created, changed, or verified. */
export interface UserResult {
  readonly kind: "create-user" | "update-user" | "verify-user";
  readonly user: User;
  readonly revision: number;
}

export interface DeleteUserResult {
  readonly kind: "delete-user";
  readonly userId: string;
  readonly revision: number;
}

export interface CreateApiKeyResult {
  readonly kind: "create-api-key";
  readonly apiKey: ApiKey;
  readonly revision: number;
}

export interface RevokeApiKeyResult {
  readonly kind: "revoke-api-key";
  readonly apiKeyId: string;
  /** Of the first revocation. */
  readonly revokedAtMs: number;
  readonly revision: number;
}

/** The result of a membership entry. */
export interface MembershipResult {
  readonly kind: "membership";
  readonly revision: number;
  /** Index of the configuration that is in force with this entry. */
  readonly configIndex: number;
  /** Id of the added slot; else 0. */
  readonly memberId: number;
}

/** The result of a claim: no-slot and slot-taken are answers, not refusals, because the process claims again. */
export interface ClaimSlotResult {
  readonly kind: "claim-slot";
  readonly revision: number;
  readonly verdict: "accepted" | "no-slot" | "slot-taken";
  /** Id of the slot; 0 if there is none. */
  readonly memberId: number;
}

export interface PutSettingsResult {
  readonly kind: "put-settings";
  readonly settingsRevision: number;
  readonly revision: number;
}

export interface RotateSigningKeyResult {
  readonly kind: "rotate-signing-key";
  /** Of the signing key after the command. */
  readonly kid: string;
  readonly revision: number;
}

export interface ResetOwnerResult {
  readonly kind: "reset-owner";
  readonly userId: string;
  /** Whether there was no user with the address. */
  readonly created: boolean;
  readonly revision: number;
}

export interface CompactHistoryResult {
  readonly kind: "compact-history";
  /** The first revision that a watch can start at from now on. */
  readonly compactRevision: number;
  readonly revision: number;
}

/** Results that are stored unchanged; for acquisitions, the stored row is their state instead. */
export type StoredResult =
  | CreateNamespaceResult
  | PutKeyResult
  | DeleteKeyResult
  | CompareAndSwapResult
  | TouchKeyResult
  | AllocateMemoryResult
  | ResizeMemoryResult
  | FreeMemoryResult
  | WriteMemoryResult
  | MembershipResult
  | ClaimSlotResult
  | CreateLockResult
  | ReleaseLockResult
  | ForceReleaseLockResult
  | CompactHistoryResult
  | PutSettingsResult
  | RotateSigningKeyResult
  | ResetOwnerResult
  | LogResult
  | CreateApiKeyResult
  | RevokeApiKeyResult
  | UserResult
  | DeleteUserResult;

export type Result = StoredResult | AcquireLockResult | QueuedLockResult;
