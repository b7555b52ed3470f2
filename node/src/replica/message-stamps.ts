/** Stamps of the messages that members exchange for a write. */

import type { Message } from "../raft/index.ts";
import { hasStampReader, stamp } from "../stamps/index.ts";
import type { ArrivedFrame } from "./arrived-frame.ts";

/** The message is queued for its connection. */
export function stampSent(message: Message): void {
  if (!hasStampReader()) {
    return;
  }
  if (message.type === "append" || message.type === "heartbeat") {
    stamp("progress.sent", lastIndexOf(message), message.commit, message.to, message.type);
  } else if (message.type === "append-reply" && !message.refused) {
    stamp("acknowledgement.sent", message.index, message.from, message.to);
  }
}

/** The frame is decoded. */
export function stampArrived(frame: ArrivedFrame): void {
  if (!hasStampReader()) {
    return;
  }
  if (frame.kind === "forward") {
    for (const { seq } of frame.forward.attempts) {
      stamp("proposal.arrived", seq, frame.peer);
    }
  } else if (frame.kind === "message") {
    stampArrivedMessage(frame.message);
  }
}

function stampArrivedMessage(message: Message): void {
  if (message.type === "append" || message.type === "heartbeat") {
    stamp("progress.arrived", lastIndexOf(message), message.commit, message.from, message.type);
  } else if (message.type === "append-reply" && !message.refused) {
    stamp("acknowledgement.arrived", message.index, message.from);
  }
}

/** Index of the last entry that the message carries; 0 if it carries none. */
function lastIndexOf(message: Message & { readonly type: "append" | "heartbeat" }): number {
  return message.type === "append" && message.rows.length > 0 ? message.prevIndex + message.rows.length : 0;
}
