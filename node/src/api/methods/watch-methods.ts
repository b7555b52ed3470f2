/**
 * WatchService: streams that report changes as they happen.
 *
 * A watch opens like a linearizable read: it does not report changes that were acknowledged before the call. After that
 * it reports what this member applies. Each change is encoded once for all watchers that want it in the same form, and
 * a message is the concatenation of such encodings.
 */

import {
  KeyEvent_Type,
  LockEvent_Action,
  LockEvent_Reason,
  ReadConsistency,
  type WatchKeysRequest,
  WatchKeysResponse,
  type WatchLocksRequest,
  WatchLocksResponse,
} from "@quoin/proto";
import { invariant } from "../../primitives/index.ts";
import {
  badRequestField,
  type HoldReason,
  type RequiredAccess,
  requireNamespace,
  type StateReader,
  type StoredKey,
} from "../../state/index.ts";
import type { SharedChange, Subscriber, WatchHub, WatchMessage, WatchRequest } from "../../watch/index.ts";
import { attempt } from "./attempt.ts";
import type { Call, ResponseStream } from "./call.ts";
import type { Executor, Query } from "./executor.ts";
import {
  keyField,
  lockPrefixField,
  namespaceField,
  prefixField,
  progressIntervalField,
  startRevisionField,
} from "./field-rules.ts";
import { keyValue } from "./key-value-methods.ts";
import { MODES } from "./lock-messages.ts";

/** The form in which a watch reports changes of keys. */
interface WatchProjection {
  readonly includePrevious: boolean;
  readonly keysOnly: boolean;
}

interface WatchQuery extends Query, Omit<WatchRequest, "principal"> {}

/** Makes the bytes of a message from shared encodings of its changes. */
type Encode = (message: WatchMessage) => Buffer;

const EVENT_TYPES = { put: KeyEvent_Type.PUT, delete: KeyEvent_Type.DELETE, expire: KeyEvent_Type.EXPIRE } as const;
const ACTIONS = { acquired: LockEvent_Action.ACQUIRED, released: LockEvent_Action.RELEASED } as const;
const REASONS: Record<HoldReason, LockEvent_Reason> = {
  normal: LockEvent_Reason.NORMAL,
  expired: LockEvent_Reason.EXPIRED,
  forced: LockEvent_Reason.FORCED,
  downgraded: LockEvent_Reason.DOWNGRADED,
  upgraded: LockEvent_Reason.UPGRADED,
  updated: LockEvent_Reason.UPDATED,
};
/** Changes of locks have one form only. */
const ONLY_VARIANT = 0;
/** The default values for a part of a message: default values are not encoded. */
const NO_FRAME = { created: false, progress: false, partial: false, revision: 0n };
const NO_BYTES = new Uint8Array(0);

export class WatchMethods {
  readonly #executor: Executor;
  readonly #hub: Pick<WatchHub, "open">;

  constructor(executor: Executor, hub: Pick<WatchHub, "open">) {
    this.#executor = executor;
    this.#hub = hub;
  }

  watchKeys(call: Call, request: WatchKeysRequest, stream: ResponseStream): void {
    const query = (): WatchQuery => ({
      about: "key",
      namespace: namespaceField(request.namespace),
      ...watchedKeysField(request),
      ...commonFields(request),
    });
    this.#watch(call, request.namespace, query, (message) => keysMessage(message, request), stream);
  }

  watchLocks(call: Call, request: WatchLocksRequest, stream: ResponseStream): void {
    const query = (): WatchQuery => ({
      about: "lock",
      namespace: namespaceField(request.namespace),
      prefix: lockPrefixField(request.namePrefix),
      ...commonFields(request),
    });
    this.#watch(call, request.namespace, query, locksMessage, stream);
  }

  #watch(call: Call, namespace: string, query: () => WatchQuery, encode: Encode, stream: ResponseStream): void {
    const need = { access: "read", namespace } as const;
    this.#executor.read(
      call,
      need,
      query,
      (replica, asked) => {
        requireNamespace(replica.state, asked.namespace);
        if (!stream.hasEnded) {
          stream.onEnded(
            this.#hub.open(
              { ...asked, principal: call.principal },
              subscriber(call, replica.state, need, encode, stream),
            ),
          );
        }
        return null;
      },
      (opened) => {
        if (opened instanceof Error) {
          stream.fail(opened);
        }
      },
    );
  }
}

/** Which keys are watched: one key, or all with a prefix. */
function watchedKeysField({ key, prefix }: WatchKeysRequest): Pick<WatchRequest, "prefix" | "isExact"> {
  if (key === undefined) {
    return { prefix: prefixField(prefix) };
  }
  if (prefix !== "") {
    throw badRequestField("key", "and prefix exclude each other: watch one key, or the keys with a prefix");
  }
  return { prefix: keyField(key), isExact: true };
}

function commonFields(request: Pick<WatchKeysRequest, "startRevision" | "progressIntervalMs">) {
  return {
    startRevision: startRevisionField(request.startRevision),
    progressIntervalMs: progressIntervalField(request.progressIntervalMs),
    consistency: ReadConsistency.LINEARIZABLE,
  };
}

function subscriber(
  call: Call,
  state: StateReader,
  required: RequiredAccess & { readonly namespace: string },
  encode: Encode,
  stream: ResponseStream,
): Subscriber {
  return {
    send: (message, taken) => {
      // The hub serves other streams in the same turn, so an error here must end this stream only.
      const bytes = attempt(() => encode(message));
      if (bytes instanceof Error) {
        stream.fail(bytes);
      } else {
        stream.send(bytes, taken);
      }
    },
    recheck: () => {
      call.recheck(required);
      requireNamespace(state, required.namespace);
    },
    end: (error) => stream.fail(error),
  };
}

// ---- Messages ----

function keysMessage(message: WatchMessage, projection: WatchProjection): Buffer {
  const variant = (projection.includePrevious ? 1 : 0) + (projection.keysOnly ? 2 : 0);
  const frame = WatchKeysResponse.encode({ events: [], ...frameFields(message) }).finish();
  return joined(message, variant, (change) => keyEvent(change, projection), frame);
}

function locksMessage(message: WatchMessage): Buffer {
  const frame = WatchLocksResponse.encode({ events: [], ...frameFields(message) }).finish();
  return joined(message, ONLY_VARIANT, lockEvent, frame);
}

/** A protobuf message may be a concatenation of parts: a repeated field then has the elements of all parts. */
function joined(
  { changes }: WatchMessage,
  variant: number,
  encode: (change: SharedChange) => Uint8Array,
  frame: Uint8Array,
): Buffer {
  return Buffer.concat([...changes.map((change) => change.encoded(variant, encode)), frame]);
}

function frameFields({ kind, revision }: WatchMessage) {
  return {
    created: kind === "created",
    progress: kind === "progress",
    partial: kind === "part",
    revision: BigInt(revision),
  };
}

/** The part of a response that contains only this event. */
function keyEvent({ change, tickMs }: SharedChange, { includePrevious, keysOnly }: WatchProjection): Uint8Array {
  invariant(change.about === "key", "a watch of keys gets changes of keys");
  // The remaining time to live is the one at the change: all watchers share the encoding, whenever they get it.
  const toMessage = (stored: StoredKey) => keyValue(keysOnly ? { ...stored, value: NO_BYTES } : stored, tickMs);
  const { kind, current, previous } = change;
  const event = {
    type: EVENT_TYPES[kind],
    kv: toMessage(current),
    previous: includePrevious && previous !== null ? toMessage(previous) : undefined,
  };
  return WatchKeysResponse.encode({ events: [event], ...NO_FRAME }).finish();
}

function lockEvent({ change, revision }: SharedChange): Uint8Array {
  invariant(change.about === "lock", "a watch of locks gets changes of locks");
  const { kind, rw, name, owner, mode, token, reason, permits = 0, value = NO_BYTES } = change;
  const event = {
    lockKey: name,
    action: ACTIONS[kind],
    owner,
    reason: REASONS[reason],
    mode: MODES[mode],
    rw,
    fencingToken: BigInt(token),
    revision: BigInt(revision),
    permits,
    value,
  };
  return WatchLocksResponse.encode({ events: [event], ...NO_FRAME }).finish();
}
