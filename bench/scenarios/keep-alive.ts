/**
 * Renewals of sessions: of etcd, of leases. An operation is the renewal of one of them. Each member has one call in
 * flight, with 500 sessions, which are the most of a user in the tenth of a second for which a member of Quoin collects
 * renewals. So no call is refused, and the time is that of a call. In etcd the same number is in flight on a stream.
 */

import type { Connection } from "../clusters/index.ts";
import { sessionsOf } from "./capabilities.ts";
import { type Operations, openLoop } from "./closed-loop.ts";
import { greater } from "./revisions.ts";
import type { Load, Scenario, Workload, WorkloadContext } from "./scenario.ts";
import { SESSION_SECONDS } from "./session.ts";

export const keepAlive: Scenario = {
  name: "keep-alive",
  description: "renewals of sessions, 500 in flight for each member (etcd: LeaseKeepAlive)",
  concurrency: {
    name: "sessions",
    flag: "--sessions",
    description: "sessions that are renewed in turn, one point each",
    counts: [10_000],
  },
  valueBytesDefault: null,
  isComparable: true,
  createWorkload: () => new KeptSessions(),
};

const AT_ONCE = 500;
/** Requests in flight during their creation. */
const CREATED_AT_ONCE = 50;

class KeptSessions implements Workload {
  readonly #ids: bigint[] = [];
  /** The greatest revision in an answer so far. */
  revision = 0n;
  /** Sessions that must live until the end. */
  live = 0;

  async prepare(connection: Connection, sessionsMax: number): Promise<void> {
    const sessions = sessionsOf(connection);
    await sessions.allowMany();
    while (this.#ids.length < sessionsMax) {
      const count = Math.min(CREATED_AT_ONCE, sessionsMax - this.#ids.length);
      const created = await Promise.all(Array.from({ length: count }, () => sessions.create(SESSION_SECONDS)));
      for (const { id, revision } of created) {
        this.#ids.push(id);
        this.revision = greater(revision, this.revision);
      }
    }
    this.live = await sessions.count();
  }

  open(context: WorkloadContext, sessions: number): Promise<Load> {
    const renewals = new Renewals(this, this.#ids.slice(0, sessions));
    return openLoop(context, renewals, context.members.length);
  }
}

class Renewals implements Operations {
  /** A renewal changes nothing that a client can see. */
  readonly revisionsPerOperation = 0n;
  readonly attempts = null;
  readonly atOnce: number;
  readonly keepsConnection = true;
  readonly #workload: KeptSessions;
  readonly #ids: readonly bigint[];
  #next = 0;

  constructor(workload: KeptSessions, ids: readonly bigint[]) {
    this.#workload = workload;
    this.#ids = ids;
    this.atOnce = Math.min(AT_ONCE, ids.length);
  }

  get revision(): bigint {
    return this.#workload.revision;
  }

  async prepare(): Promise<void> {}

  async perform(connection: Connection): Promise<void> {
    const ids = Array.from({ length: this.atOnce }, () => this.#ids[this.#next++ % this.#ids.length] as bigint);
    const revision = await sessionsOf(connection).renew(ids);
    this.#workload.revision = greater(revision, this.#workload.revision);
  }

  /** Each answer was about a live session, and there are as many as before. */
  async verify(connection: Connection): Promise<void> {
    const live = await sessionsOf(connection).count();
    if (live !== this.#workload.live) {
      throw new Error(`there were ${this.#workload.live} sessions, but now there are ${live}`);
    }
  }
}
