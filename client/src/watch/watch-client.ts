/** Watches of keys and locks: the WatchService of the contract, typed, with counts as numbers. */

import {
  enumName,
  KeyEvent_Type,
  type KeyEvent as KeyEventMessage,
  LockEvent_Action,
  LockEvent_Reason,
  type LockEvent as LockEventMessage,
  RWMode,
  serviceDefinitions,
  type WatchKeysResponse,
  type WatchLocksResponse,
} from "@quoin/proto";
import { type OperationContext, type Plain, streamMethod, toPlain } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import type { KeyEntry } from "../kv/index.ts";
import { type LockMode, modeName } from "../locks/index.ts";
import { flag, int64Field, optionsCheck, text, textField } from "../options/index.ts";
import { fetchOpenStreams, type OpenStreamPage, type OpenStreamsOptions } from "./open-streams.ts";
import { openWatch, type Watch, type WatchOptions, watchRules } from "./watch.ts";

const service = serviceDefinitions.WatchService;
const watchKeysMethod = streamMethod(service.watchKeys);
const watchLocksMethod = streamMethod(service.watchLocks);

/** One change of a key. */
export interface KeyEvent {
  /** The kind of the change; a decimal number if this client is too old to know it. */
  readonly type: "PUT" | "DELETE" | "EXPIRE" | (string & {});
  /** The key after a PUT; else the key, its last value, and the revision of its end as `modRevision`. */
  readonly kv: KeyEntry;
  /** The key before the change; undefined unless it was requested and the key existed. */
  readonly previous: KeyEntry | undefined;
}

/** One change of the holds of a lock. */
export type LockEvent = Omit<Plain<LockEventMessage>, "action" | "reason" | "mode"> & {
  /** The change of the hold; a decimal number if this client is too old to know it. */
  readonly action: "ACQUIRED" | "RELEASED" | (string & {});
  /** The reason; a decimal number if this client is too old to know it. */
  readonly reason: "NORMAL" | "EXPIRED" | "FORCED" | "DOWNGRADED" | "UPGRADED" | "UPDATED" | (string & {});
  /** Mode of a read-write lock's hold; undefined on other locks. */
  readonly mode: LockMode | undefined;
};

/** Options of a watch of keys. */
export interface WatchKeysOptions extends WatchOptions {
  /** The prefix of the keys; default: all keys of the namespace. */
  readonly prefix?: string | undefined;
  /** The only key to watch, instead of a prefix. */
  readonly key?: string | undefined;
  /** Whether events contain the previous state of the key. Default false. */
  readonly includePrevious?: boolean | undefined;
  /** Whether to leave out the values. Default false. */
  readonly keysOnly?: boolean | undefined;
}

/** Options of a watch of locks. */
export interface WatchLocksOptions extends WatchOptions {
  /** The prefix of the names; default: all locks of the namespace. */
  readonly namePrefix?: string | undefined;
}

const checkKeys = optionsCheck<WatchKeysOptions>({
  ...watchRules,
  prefix: text,
  key: text,
  includePrevious: flag,
  keysOnly: flag,
});
const checkLocks = optionsCheck<WatchLocksOptions>({ ...watchRules, namePrefix: text });

/** Watches keys and locks. */
export class WatchClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Watches keys. The watch is established when it is returned; it lasts until `return`, the end of a loop over it, or
   * the signal.
   *
   * @throws CompactedError if the history from `startRevision` on is no longer kept; QuoinError NOT_FOUND /
   * NAMESPACE_NOT_FOUND; UNAVAILABLE if no member serves the watch in time.
   */
  async keys(namespace: string, options: WatchKeysOptions = {}): Promise<Watch<KeyEvent>> {
    checkKeys(options, "watch.keys");
    const { key } = options;
    const fields = {
      namespace: textField("namespace", namespace),
      prefix: textField("prefix", options.prefix ?? ""),
      key: key === undefined ? undefined : textField("key", key),
      includePrevious: options.includePrevious ?? false,
      keysOnly: options.keysOnly ?? false,
      progressIntervalMs: progressField(options),
    };
    assertStart(options);
    const source = {
      method: watchKeysMethod,
      namespace: fields.namespace,
      request: (startRevision: bigint) => ({ ...fields, startRevision }),
      // A member of an earlier release does not know the field, and sends all keys.
      events: ({ events }: WatchKeysResponse) =>
        events.map(keyEvent).filter(({ kv }) => key === undefined || kv.key === key),
    };
    return openWatch(this.#context, source, options);
  }

  /**
   * Watches the holds of locks of both kinds, in the same way as keys.
   *
   * @throws CompactedError and QuoinError like keys.
   */
  async locks(namespace: string, options: WatchLocksOptions = {}): Promise<Watch<LockEvent>> {
    checkLocks(options, "watch.locks");
    const fields = {
      namespace: textField("namespace", namespace),
      namePrefix: textField("namePrefix", options.namePrefix ?? ""),
      progressIntervalMs: progressField(options),
    };
    assertStart(options);
    const source = {
      method: watchLocksMethod,
      namespace: fields.namespace,
      request: (startRevision: bigint) => ({ ...fields, startRevision }),
      events: ({ events }: WatchLocksResponse) => events.map(lockEvent),
    };
    return openWatch(this.#context, source, options);
  }

  /**
   * Reads one page of the open streams of one member: watches, and followers of event logs. Needs the access `admin` in
   * the namespace, or in all namespaces. `nextPageToken` is empty on the last page.
   *
   * @throws QuoinError NOT_FOUND / MEMBER_NOT_FOUND; UNAVAILABLE / MEMBER_UNREACHABLE.
   */
  async streams(options: OpenStreamsOptions = {}): Promise<OpenStreamPage> {
    return fetchOpenStreams(this.#context, options);
  }
}

function progressField({ progressIntervalMs = 0 }: WatchOptions): bigint {
  return int64Field("progressIntervalMs", progressIntervalMs);
}

function assertStart({ startRevision = 0 }: WatchOptions): void {
  int64Field("startRevision", startRevision);
}

function keyEvent({ type, kv, previous }: KeyEventMessage): KeyEvent {
  if (kv === undefined) {
    throw new QuoinError({ code: "INTERNAL", message: "an event names no key" });
  }
  return {
    type: enumName(KeyEvent_Type, type),
    kv: toPlain(kv),
    previous: previous === undefined ? undefined : toPlain(previous),
  };
}

function lockEvent(event: LockEventMessage): LockEvent {
  return {
    ...toPlain(event),
    action: enumName(LockEvent_Action, event.action),
    reason: enumName(LockEvent_Reason, event.reason),
    mode: event.mode === RWMode.RW_MODE_UNSPECIFIED ? undefined : modeName(event.mode),
  };
}
