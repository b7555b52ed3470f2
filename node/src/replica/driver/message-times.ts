/** Notes the arrival of messages about entries in the timeline, for traces. */

import type { Message } from "../../raft/index.ts";
import type { Timeline } from "../../tracing/index.ts";
import type { Clock } from "../context/index.ts";

/** The message is decoded. Only messages about entries read the clock. */
export function noteArrived(timeline: Timeline, message: Message, { monotonicMs }: Pick<Clock, "monotonicMs">): void {
  if (message.type === "append" && message.rows.length > 0) {
    timeline.onReceived(message.prevIndex + 1, message.rows.length, message.from, monotonicMs());
  } else if (message.type === "append-reply" && !message.refused) {
    timeline.onAcknowledged(message.from, message.index, monotonicMs());
  }
}
