/**
 * A watch that goes on. A member may end a watch at any time with UNAVAILABLE, for example because it hears no leader.
 * As a client of the contract does, the follower then opens another one behind the last message.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Connection } from "./connection.ts";
import type { Operation } from "./operations.ts";
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
  let current: Stream<Message>;
  let hasLeft = false;
  const followed = new Stream<Message>(() => {
    hasLeft = true;
    current.cancel();
  });
  const open = (): void => {
    const last = followed.messages.at(-1);
    const startRevision = last === undefined ? fields.startRevision : greater(last.revision + 1n, fields.startRevision);
    current = connection.stream(operation, startRevision === undefined ? fields : { ...fields, startRevision });
    current.onMessage = (message) => {
      if (last === undefined || !message.created) {
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
