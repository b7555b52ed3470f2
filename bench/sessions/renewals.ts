/**
 * Renews groups of sessions at a third of their time to live, each in one call. The calls are spread over that third and
 * over the members, so that none is above the share of a user. Without an answer, a call is repeated at the next member
 * until the deadline of its sessions.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type Client, QuoinError } from "@quoin/client";
import type { Ends, SessionGroup } from "./ends.ts";

/** The most sessions of one call. */
export const SESSIONS_PER_CALL = 500;
/** A member has a part of the remaining time, as for a client of the SDK, but never so long that others wait. */
const ATTEMPT_SHARE = 1 / 4;
const ATTEMPT_MS_MIN = 250;
const ATTEMPT_MS_MAX = 1_000;
const PAUSE_MS = 100;

/** What became of the calls so far. */
export interface CallCounts {
  readonly calls: number;
  /** Renewed sessions in their answers. */
  readonly renewed: number;
  readonly rateLimited: number;
  /** Calls that failed for any other reason. */
  readonly failed: number;
  /** Sessions that no call had renewed at their deadline. */
  readonly overdue: number;
}

export class Renewals {
  /** One for each member. */
  readonly #clients: readonly Client[];
  readonly #ends: Ends;
  readonly #intervalMs: number;
  readonly #groupsMax: number;
  readonly #originMs = performance.now();
  readonly #kept = new Map<SessionGroup, { readonly at: number; readonly stopping: AbortController }>();
  readonly #loops: Promise<void>[] = [];
  #counts: CallCounts = { calls: 0, renewed: 0, rateLimited: 0, failed: 0, overdue: 0 };

  /** @param groupsMax how many groups there will be. */
  constructor(clients: readonly Client[], ends: Ends, intervalMs: number, groupsMax: number) {
    this.#clients = clients;
    this.#ends = ends;
    this.#intervalMs = intervalMs;
    this.#groupsMax = groupsMax;
  }

  get counts(): CallCounts {
    return this.#counts;
  }

  /** Renews the group until it is stopped. */
  keep(group: SessionGroup): void {
    const kept = { at: this.#kept.size, stopping: new AbortController() };
    this.#kept.set(group, kept);
    this.#loops.push(this.#loop(group, kept.at, kept.stopping.signal));
  }

  /** Stops these groups; a call in flight still counts. Resolves when none is in flight. */
  async stop(groups: Iterable<SessionGroup>): Promise<void> {
    const loops = [...groups].map((group) => {
      const kept = this.#kept.get(group);
      kept?.stopping.abort();
      return this.#loops[kept?.at ?? -1];
    });
    await Promise.all(loops);
  }

  /** Stops all groups. */
  async end(): Promise<void> {
    await this.stop(this.#kept.keys());
  }

  /** Renews the group once; it is stopped, and `at` chooses the first member. */
  async renew(group: SessionGroup, at: number): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const sentMs = performance.now();
      const remainingMs = group.deadlineMs - sentMs;
      if (remainingMs <= 0) {
        this.#add({ overdue: group.ids.length });
        return;
      }
      this.#add({ calls: 1 });
      try {
        const client = this.#clients[(at + attempt) % this.#clients.length] as Client;
        const timeoutMs = Math.min(ATTEMPT_MS_MAX, Math.max(ATTEMPT_MS_MIN, remainingMs * ATTEMPT_SHARE));
        const sessions = await client.sessions.renew(group.namespace, group.ids, { timeoutMs });
        for (const { sessionId } of sessions.filter(({ expiresInMs }) => expiresInMs === 0)) {
          this.#ends.onNotRenewed(sessionId, performance.now());
        }
        const live = sessions.filter(({ expiresInMs }) => expiresInMs > 0);
        group.ids = live.map(({ sessionId }) => sessionId);
        if (live.length > 0) {
          group.deadlineMs = sentMs + Math.min(...live.map(({ expiresInMs }) => expiresInMs));
        }
        this.#add({ renewed: live.length });
        return;
      } catch (thrown) {
        const { reason } = QuoinError.from(thrown);
        this.#add(reason === "RATE_LIMITED" ? { rateLimited: 1 } : { failed: 1 });
        await sleep(PAUSE_MS);
      }
    }
  }

  async #loop(group: SessionGroup, at: number, stopping: AbortSignal): Promise<void> {
    const offsetMs = this.#originMs + (at * this.#intervalMs) / this.#groupsMax;
    while (!stopping.aborted && group.ids.length > 0 && group.deadlineMs > performance.now()) {
      const past = Math.floor((performance.now() - offsetMs) / this.#intervalMs);
      const dueMs = offsetMs + (past + 1) * this.#intervalMs;
      // The abort ends only the pause.
      await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal: stopping }).catch(() => undefined);
      if (!stopping.aborted) {
        await this.renew(group, at);
      }
    }
  }

  #add(more: Partial<CallCounts>): void {
    this.#counts = plus(this.#counts, more, 1);
  }
}

/** What came after the counts `before`. */
export function countsSince(before: CallCounts, now: CallCounts): CallCounts {
  return plus(now, before, -1);
}

function plus(one: CallCounts, other: Partial<CallCounts>, sign: 1 | -1): CallCounts {
  return {
    calls: one.calls + sign * (other.calls ?? 0),
    renewed: one.renewed + sign * (other.renewed ?? 0),
    rateLimited: one.rateLimited + sign * (other.rateLimited ?? 0),
    failed: one.failed + sign * (other.failed ?? 0),
    overdue: one.overdue + sign * (other.overdue ?? 0),
  };
}
