/** What watchers watch: how to open a stream, and how to read its changes. */

import {
  KeyEvent_Type,
  type KeyValue,
  type LockEvent,
  LockEvent_Action,
  LockEvent_Reason,
  serviceDefinitions,
  WatchKeysRequest,
  type WatchKeysResponse,
  WatchLocksRequest,
  type WatchLocksResponse,
} from "@quoin/proto";
import type { Answer, GrpcStream } from "../../test/harness/index.ts";
import type { KeyContent, WatchedChange, WatchedLockChange } from "../history/index.ts";
import { modeOf } from "./lock-operations.ts";
import type { MemberCalls } from "./member-calls.ts";

const { WatchService } = serviceDefinitions;
const NAMESPACE = "default";
export const PROGRESS_INTERVAL_MS = 200;
const KEY_KINDS: ReadonlyMap<KeyEvent_Type, WatchedChange["kind"]> = new Map([
  [KeyEvent_Type.PUT, "put"],
  [KeyEvent_Type.DELETE, "delete"],
  [KeyEvent_Type.EXPIRE, "expire"],
]);
const LOCK_KINDS: ReadonlyMap<LockEvent_Action, WatchedLockChange["kind"]> = new Map([
  [LockEvent_Action.ACQUIRED, "acquired"],
  [LockEvent_Action.RELEASED, "released"],
]);
const REASONS: ReadonlyMap<LockEvent_Reason, WatchedLockChange["reason"]> = new Map([
  [LockEvent_Reason.NORMAL, "normal"],
  [LockEvent_Reason.EXPIRED, "expired"],
  [LockEvent_Reason.FORCED, "forced"],
  [LockEvent_Reason.DOWNGRADED, "downgraded"],
  [LockEvent_Reason.UPGRADED, "upgraded"],
]);

/** The common part of the messages of a stream. */
export interface StreamResponse {
  readonly created: boolean;
  readonly progress: boolean;
  readonly revision: bigint;
}

export type OpenedStream<Response> = {
  readonly stream: GrpcStream<Response, Answer<never>>;
  readonly close: () => void;
} | null;

export interface WatchTarget<Change, Response extends StreamResponse> {
  readonly things: string;
  /** Every member gets one watcher for each prefix. */
  readonly prefixes: readonly string[];
  open(calls: MemberCalls, endpoint: string, prefix: string, startRevision: number): Promise<OpenedStream<Response>>;
  /** Raises an Error if a change is malformed. */
  changesOf(response: Response): readonly Change[];
  /** The id of a change, equal for all watchers. */
  idOf(change: Change): string;
}

/** Keys without and with a time to live, whose operations are all recorded. */
export const WATCHED_KEYS: WatchTarget<WatchedChange, WatchKeysResponse> = {
  things: "keys",
  prefixes: ["key-", "lifetime-"],
  open: (calls, endpoint, prefix, startRevision) => {
    const request = WatchKeysRequest.fromPartial({ ...fieldsOf(startRevision), prefix, includePrevious: true });
    return calls.stream(endpoint, WatchService.watchKeys, request);
  },
  changesOf: ({ events }) => events.map(({ type, kv, previous }) => keyChangeOf(type, kv, previous)),
  idOf: ({ content }) => String(content.modRevision),
};

/** All locks, whose operations are all recorded. */
export const WATCHED_LOCKS: WatchTarget<WatchedLockChange, WatchLocksResponse> = {
  things: "locks",
  prefixes: [""],
  open: (calls, endpoint, namePrefix, startRevision) => {
    const request = WatchLocksRequest.fromPartial({ ...fieldsOf(startRevision), namePrefix });
    return calls.stream(endpoint, WatchService.watchLocks, request);
  },
  changesOf: ({ events }) => events.map(lockChangeOf),
  idOf: ({ revision, kind, token }) => `${revision} ${kind} ${token}`,
};

function fieldsOf(startRevision: number) {
  return {
    namespace: NAMESPACE,
    startRevision: BigInt(startRevision),
    progressIntervalMs: BigInt(PROGRESS_INTERVAL_MS),
  };
}

function keyChangeOf(type: KeyEvent_Type, now: KeyValue | undefined, before: KeyValue | undefined): WatchedChange {
  const kind = KEY_KINDS.get(type);
  if (kind === undefined || now === undefined) {
    throw new Error(`a change has no known kind, or no key: ${type}`);
  }
  return {
    kind,
    key: now.key,
    content: contentOf(now),
    previous: before === undefined ? null : contentOf(before),
  };
}

function contentOf({ value, createRevision, modRevision, version }: KeyValue): KeyContent {
  return {
    value: Buffer.from(value).toString(),
    createRevision: Number(createRevision),
    modRevision: Number(modRevision),
    version: Number(version),
  };
}

function lockChangeOf({ lockKey, action, owner, reason, mode, fencingToken, revision, rw }: LockEvent) {
  const kind = LOCK_KINDS.get(action);
  const why = REASONS.get(reason);
  if (kind === undefined || why === undefined || rw !== (modeOf(mode) !== "exclusive")) {
    throw new Error(`a change has no known kind, reason or mode: ${action}, ${reason}, ${mode} of ${lockKey}`);
  }
  return {
    kind,
    lock: lockKey,
    owner,
    mode: modeOf(mode),
    reason: why,
    token: Number(fencingToken),
    revision: Number(revision),
  };
}
