/**
 * The routes of watches: the changes of keys and of locks as server-sent events. The methods and their rules are those
 * of WatchService.
 *
 * An event has the JSON of one message of the watch, and the revision of the message as its id. A message has all
 * changes of its revisions, so a client that resumes after the last id misses no change and gets none twice. An event
 * without a name has changes; events with the names `created` and `progress` only move the position.
 */

import {
  type MessageCodec,
  WatchKeysRequest,
  WatchKeysResponse,
  WatchLocksRequest,
  WatchLocksResponse,
} from "@quoin/proto";
import type { Scheduler } from "../../../replica/index.ts";
import { encodeJson } from "../../json/index.ts";
import type { ResponseStream, WatchMethods } from "../../methods/index.ts";
import { EVENT_STREAM_TYPE, type ServerSentEvent, ServerSentEvents } from "../answers/index.ts";
import { flag, type HttpCall, integer, optional, type Parameter, required } from "../requests/index.ts";
import { type Answer, type Route, route } from "../routing/index.ts";
import { OpeningStream } from "./opening-stream.ts";

const PROGRESS_MS_MIN = 100;
const PROGRESS_MS_MAX = 60_000;
const LAST_EVENT_ID = "Last-Event-ID";
const ERRORS = ["invalid_header", "namespace_denied", "not_found", "compacted", "storage_full"] as const;

const headers = {
  [LAST_EVENT_ID]: optional(
    integer(
      "The id of the last event that the client has seen: the stream continues after it and ignores start_revision",
      0,
      Number.MAX_SAFE_INTEGER - 1,
    ),
    null,
  ),
};

/** The query parameters of both routes. */
const common = {
  namespace: required("Namespace to watch", { type: "string" }, (given) => given),
  start_revision: optional(
    integer("The first revision to report; without it the stream begins now", 0, Number.MAX_SAFE_INTEGER),
    0,
  ),
  progress_interval_ms: optional(
    integer(
      "Interval of the event progress while there are no changes, in milliseconds; 1,000 by default",
      PROGRESS_MS_MIN,
      PROGRESS_MS_MAX,
    ),
    0,
  ),
};

/** What both kinds of messages have. */
interface WatchMessage {
  readonly created: boolean;
  readonly progress: boolean;
  readonly revision: bigint;
}

/** The routes of watches. */
export function watchRoutes(methods: WatchMethods, scheduler: Pick<Scheduler, "every">): readonly Route[] {
  return [watchKeysRoute(methods, scheduler), watchLocksRoute(methods, scheduler)];
}

function watchKeysRoute(methods: WatchMethods, scheduler: Pick<Scheduler, "every">): Route {
  return route({
    method: "GET",
    path: "/v1/watch/keys",
    operationId: "watchKeys",
    summary: "Follow the changes of keys as server-sent events",
    access: "read",
    headers,
    query: {
      ...common,
      prefix: text("Prefix of the keys; without it all keys of the namespace"),
      key: text("The only key to watch, instead of a prefix"),
      include_previous: flag("Whether events also have the key as it was before"),
      keys_only: flag("Whether events have no values"),
    },
    success: { status: 200, description: "An endless stream", types: [EVENT_STREAM_TYPE] },
    errors: ERRORS,
    handle: (call, { headers, query }) => {
      const request = WatchKeysRequest.create({
        namespace: query.namespace,
        prefix: query.prefix,
        key: query.key === "" ? undefined : query.key,
        includePrevious: query.include_previous,
        keysOnly: query.keys_only,
        ...position(headers[LAST_EVENT_ID], query),
      });
      return watchAnswer(call, scheduler, WatchKeysResponse, (stream) => methods.watchKeys(call, request, stream));
    },
  });
}

function watchLocksRoute(methods: WatchMethods, scheduler: Pick<Scheduler, "every">): Route {
  return route({
    method: "GET",
    path: "/v1/watch/locks",
    operationId: "watchLocks",
    summary: "Follow the holds of locks as server-sent events",
    access: "read",
    headers,
    query: { ...common, name_prefix: text("Prefix of the names; without it all locks of the namespace") },
    success: { status: 200, description: "An endless stream", types: [EVENT_STREAM_TYPE] },
    errors: ERRORS,
    handle: (call, { headers, query }) => {
      const request = WatchLocksRequest.create({
        namespace: query.namespace,
        namePrefix: query.name_prefix,
        ...position(headers[LAST_EVENT_ID], query),
      });
      return watchAnswer(call, scheduler, WatchLocksResponse, (stream) => methods.watchLocks(call, request, stream));
    },
  });
}

function text(description: string): Parameter<string> {
  return optional(
    required(description, { type: "string" }, (given) => given),
    "",
  );
}

function position(
  lastSeen: number | null,
  query: { readonly start_revision: number; readonly progress_interval_ms: number },
): { readonly startRevision: bigint; readonly progressIntervalMs: bigint } {
  return {
    startRevision: BigInt(lastSeen === null ? query.start_revision : lastSeen + 1),
    progressIntervalMs: BigInt(query.progress_interval_ms),
  };
}

/** Resolves when the watch is open. Rejects with its refusal. */
async function watchAnswer<Message extends WatchMessage>(
  call: HttpCall,
  scheduler: Pick<Scheduler, "every">,
  codec: MessageCodec<Message>,
  open: (stream: ResponseStream) => void,
): Promise<Answer<never>> {
  const opening = new OpeningStream(call);
  open(opening);
  await opening.opened;
  if (!call.wantsBody) {
    opening.abandon();
  }
  const stream = (response: ResponseStream): void => {
    const events = new ServerSentEvents(response);
    events.begin(scheduler);
    opening.attach({
      get hasEnded() {
        return response.hasEnded;
      },
      onEnded: (callback) => response.onEnded(callback),
      send: (bytes, taken) => events.send([eventOf(codec, bytes)], taken),
      fail: (error) => response.fail(error),
    });
  };
  return { type: EVENT_STREAM_TYPE, stream };
}

function eventOf<Message extends WatchMessage>(codec: MessageCodec<Message>, bytes: Uint8Array): ServerSentEvent {
  const message = codec.decode(bytes);
  const { created, progress, revision } = message;
  const event = created ? { event: "created" } : progress ? { event: "progress" } : {};
  return { id: String(revision), ...event, data: encodeJson(codec.$type, message, true) };
}
