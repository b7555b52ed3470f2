/**
 * A watch that goes on. A member may end a watch at any time with UNAVAILABLE, for example because it hears no leader.
 * As a client of the contract does, the follower then opens another one behind the last message.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { TailEventsRequest, TailEventsResponse } from "@quoin/proto";
import type { Answer } from "./answer.ts";
import type { Connection } from "./connection.ts";
import { type Operation, tailEvents } from "./operations.ts";
import { Stream } from "./stream.ts";

const RETRY_MS = 50;

interface WatchRequest {
  readonly startRevision: bigint;
}

interface WatchMessage {
  readonly created: boolean;
  readonly revision: bigint;
}

/** The messages of all watches that it opens, but only one that says that a watch is in place. */
export function follow<Request extends WatchRequest, Message extends WatchMessage>(
  connection: Connection,
  operation: Operation<Request, Message>,
  fields: Partial<Request>,
): Stream<Message> {
  return goingOn(connection, operation, fields, (messages) => {
    const last = messages.at(-1);
    return last === undefined ? {} : { startRevision: greater(last.revision + 1n, fields.startRevision) };
  });
}

/** The same for the events of a log, which a client resumes behind the last event. */
export function followLog(connection: Connection, fields: Partial<TailEventsRequest>): Stream<TailEventsResponse> {
  return goingOn(connection, tailEvents, fields, (messages) => {
    const last = messages.flatMap(({ events }) => events).at(-1);
    return last === undefined ? {} : { fromSequence: last.sequence + 1n };
  });
}

function goingOn<Request, Message extends { readonly created: boolean }>(
  connection: Connection,
  operation: Operation<Request, Message>,
  fields: Partial<Request>,
  behind: (messages: readonly Message[]) => object,
): Stream<Message> {
  let current: Stream<Message>;
  let hasLeft = false;
  const followed = new Stream<Message>(() => {
    hasLeft = true;
    current.cancel();
  });
  const open = (): void => {
    const isFirst = followed.messages.length === 0;
    current = connection.stream(operation, { ...fields, ...behind(followed.messages) });
    current.onMessage = (message) => {
      if (isFirst || !message.created) {
        followed.receive(message);
      }
    };
    current.onEnd = (answer) => void goOn(answer);
  };
  const goOn = async (answer: Answer<never>): Promise<void> => {
    if (answer.code === "UNAVAILABLE") {
      await sleep(RETRY_MS);
    }
    if (answer.code !== "UNAVAILABLE" || hasLeft) {
      followed.end(answer);
    } else {
      open();
    }
  };
  open();
  return followed;
}

function greater(one: bigint, other: bigint | undefined): bigint {
  return other !== undefined && other > one ? other : one;
}
