/**
 * The relation of a message about its sender's log to the log of its reader. It decides how the reader handles the
 * message.
 */

import type { Message } from "../../src/raft/index.ts";

/** The reader's log; `termOf` returns undefined for entries that it does not hold. */
export interface OwnLog {
  readonly first: number;
  readonly last: number;
  readonly lastTerm: number;
  readonly termOf: (index: number) => number | undefined;
}

/** Relations by the types of frames that have any. */
export const RELATIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["Vote", ["of an older log", "of an equal log", "of a newer log"]],
  ["PreVote", ["of an older log", "of an equal log", "of a newer log"]],
  ["Append", ["before its log", "that fits", "that conflicts", "beyond its log"]],
]);

/** The relation in words; null for messages that say nothing about a log. */
export function relationOf(message: Message, own: OwnLog): string | null {
  switch (message.type) {
    case "vote":
    case "pre-vote": {
      const difference = message.lastTerm - own.lastTerm || message.lastIndex - own.last;
      return difference === 0 ? "of an equal log" : difference < 0 ? "of an older log" : "of a newer log";
    }
    case "append":
      if (message.prevIndex < own.first - 1) {
        return "before its log";
      }
      if (message.prevIndex > own.last) {
        return "beyond its log";
      }
      return own.termOf(message.prevIndex) === message.prevTerm ? "that fits" : "that conflicts";
    default:
      return null;
  }
}
