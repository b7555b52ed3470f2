/** When keys, holds of locks and sessions ended, compared with the times that they were given. */

import { entryEnvelope, entryTerm } from "../../src/raft/index.ts";
import { knownUntilMs } from "../history/index.ts";
import type { CanonicalLog } from "./canonical-log.ts";
import type { Expiry } from "./key-history.ts";
import type { Ending } from "./key-lifetimes.ts";
import type { HolderDeadline } from "./lock-clients.ts";
import { DRIFT } from "./process.ts";
import type { Execution } from "./requests.ts";
import { must } from "./rule-violation.ts";
import type { Rules } from "./rules.ts";
import type { SessionLife } from "./session-clients.ts";

/** Members count whole milliseconds, and their clocks may drift. */
const CLOCK = { clockDrift: DRIFT, clockResolutionMs: 1 } as const;

/** A key can lose the most time if clocks run fast by as much as they may. */
export function checkKeyExpiries(
  log: CanonicalLog,
  asked: { startOf(requestId: string): number | undefined },
  endings: readonly Ending[],
  executions: ReadonlyMap<string, Execution>,
): void {
  const requests = new Map([...executions].map(([requestId, { index }]) => [index, requestId]));
  for (const { key, index, setIndex, ttlMs } of endings) {
    const startMs = asked.startOf(requests.get(setIndex) ?? "");
    const lifeMs = log.timesOf(index).writtenMs - (startMs ?? Number.NEGATIVE_INFINITY);
    must(lifeMs >= ttlMs / (1 + DRIFT) - 1, "I23 a key lives for its time", () => {
      const [set, ended] = [setIndex, index].map((at) => {
        const row = log.rows[at - 1] as Uint8Array;
        return `entry ${at} of term ${entryTerm(row)} at tick ${entryEnvelope(row).tickMs}`;
      });
      return `${key}, set by ${set} for ${ttlMs} ms, was ended by ${ended} after ${Math.round(lifeMs)} ms`;
    });
  }
}

/** No hold expires before the time that its holder knows (S23). */
export function checkHoldExpiries(
  { log, locks }: Pick<Rules, "log" | "locks">,
  holderDeadlines: readonly HolderDeadline[],
): void {
  for (const deadline of holderDeadlines) {
    const { token, sentMs, lifeMs } = deadline;
    const index = locks.expiries.get(token);
    const endMs = index === undefined ? Number.POSITIVE_INFINITY : log.timesOf(index).writtenMs;
    must(endMs >= knownUntilMs(deadline, CLOCK), "S23 a hold lasts as long as its holder knows", () => {
      return `${token}, asked for at ${Math.round(sentMs)}, for ${lifeMs} ms, was ended at ${Math.round(endMs)}`;
    });
  }
}

/** No session expires before the time that its client knows (S23). */
export function checkSessionExpiries(
  { log, sessions }: Pick<Rules, "log" | "sessions">,
  lives: readonly SessionLife[],
): void {
  for (const life of lives) {
    const { sessionId, sentMs, lifeMs } = life;
    const index = sessions.expiries.get(sessionId);
    const endMs = index === undefined ? Number.POSITIVE_INFINITY : log.timesOf(index).writtenMs;
    must(endMs >= knownUntilMs(life, CLOCK), "S23 a session lives as long as its client knows", () => {
      return `${sessionId}, asked for at ${Math.round(sentMs)}, for ${lifeMs} ms, was ended at ${Math.round(endMs)}`;
    });
  }
}

/** The times between which the key can have expired. */
export function expiryOf(log: CanonicalLog, { key, index, revision }: Ending): Expiry {
  const { writtenMs, appliedMs } = log.timesOf(index);
  return { key, revision, notBeforeMs: writtenMs, notAfterMs: appliedMs };
}
