/**
 * WatchService: what clients are told of changes as they happen.
 *
 * A watch is opened as a linearizable read is: what was acknowledged before the call is not news to it. After that it
 * shows what this member applies. A change is encoded once for all who are told it in the same way; a message is put
 * together of such encodings.
 */

import { KeyEvent_Type, ReadConsistency, type WatchKeysRequest, WatchKeysResponse } from "@quoin/proto";
import { type KeyChange, type Need, requireNamespace, type StoredKey } from "../../state/index.ts";
import type { SharedChange, Subscriber, WatchHub, WatchRequest } from "../../watch/index.ts";
import { attempt } from "./attempt.ts";
import type { Call, ResponseStream } from "./call.ts";
import type { Executor, Query } from "./executor.ts";
import { namespaceField, prefixField, progressIntervalField, startRevisionField } from "./field-rules.ts";
import { keyValue } from "./key-value-methods.ts";

/** What changes are told with. */
interface Telling {
  readonly includePrevious: boolean;
  readonly keysOnly: boolean;
}

interface WatchQuery extends Query, WatchRequest, Telling {}

const EVENT_TYPES = { put: KeyEvent_Type.PUT, delete: KeyEvent_Type.DELETE, expire: KeyEvent_Type.EXPIRE } as const;
const NO_BYTES = new Uint8Array(0);

export class WatchMethods {
  readonly #executor: Executor;
  readonly #hub: Pick<WatchHub, "open">;

  constructor(executor: Executor, hub: Pick<WatchHub, "open">) {
    this.#executor = executor;
    this.#hub = hub;
  }

  watchKeys(call: Call, request: WatchKeysRequest, stream: ResponseStream): void {
    const need: Need = { access: "read", namespace: request.namespace };
    this.#executor.read(
      call,
      need,
      () => watchQuery(request),
      (replica, query) => {
        requireNamespace(replica.state, query.namespace);
        if (!stream.isOver) {
          stream.onOver(this.#hub.open(query, keySubscriber(call, need, query, stream)));
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

function watchQuery(request: WatchKeysRequest): WatchQuery {
  return {
    namespace: namespaceField(request.namespace),
    prefix: prefixField(request.prefix),
    startRevision: startRevisionField(request.startRevision),
    progressIntervalMs: progressIntervalField(request.progressIntervalMs),
    includePrevious: request.includePrevious,
    keysOnly: request.keysOnly,
    consistency: ReadConsistency.LINEARIZABLE,
  };
}

function keySubscriber(call: Call, need: Need, telling: Telling, stream: ResponseStream): Subscriber {
  return {
    send: ({ kind, changes, revision }, taken) => {
      const isCreated = kind === "created";
      const frame = { events: [], created: isCreated, progress: kind === "progress", revision: BigInt(revision) };
      // The hub serves others in the same turn: what goes wrong here concerns this stream alone.
      const message = attempt(() => messageOf(changes, frame, telling));
      if (message instanceof Error) {
        stream.fail(message);
      } else {
        stream.send(message, taken);
      }
    },
    recheck: () => call.recheck(need),
    end: (error) => stream.fail(error),
  };
}

/** A protobuf message may be given in parts: fields that repeat add up. */
function messageOf(changes: readonly SharedChange[], frame: WatchKeysResponse, telling: Telling): Buffer {
  const variant = (telling.includePrevious ? 1 : 0) + (telling.keysOnly ? 2 : 0);
  const encode = (change: KeyChange, tickMs: number) => encodeEvent(change, tickMs, telling);
  const events = changes.map((change) => change.encoded(variant, encode));
  return Buffer.concat([...events, WatchKeysResponse.encode(frame).finish()]);
}

/** The part of a response that is this event alone. */
function encodeEvent(change: KeyChange, tickMs: number, { includePrevious, keysOnly }: Telling): Uint8Array {
  // What remains of a key's life is told as it was at the change, for it is told alike whenever it is told.
  const told = (stored: StoredKey) => keyValue(keysOnly ? { ...stored, value: NO_BYTES } : stored, tickMs);
  const { kind, current, previous } = change;
  const event = {
    type: EVENT_TYPES[kind],
    kv: told(current),
    previous: includePrevious && previous !== null ? told(previous) : undefined,
  };
  const part = { events: [event], created: false, progress: false, revision: 0n };
  return WatchKeysResponse.encode(part).finish();
}
