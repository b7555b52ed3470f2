/** New sessions, which are not renewed: of etcd, leases. */

import type { Connection } from "../clusters/index.ts";
import { sessionsOf } from "./capabilities.ts";
import { closedLoop, type Operations } from "./closed-loop.ts";
import { IN_FLIGHT } from "./in-flight.ts";
import { greater } from "./revisions.ts";
import type { Scenario } from "./scenario.ts";

export const session: Scenario = {
  name: "session",
  description: "creations of sessions that live for an hour (etcd: LeaseGrant)",
  concurrency: IN_FLIGHT,
  valueBytesDefault: null,
  isComparable: true,
  createWorkload: () => closedLoop(new Creations()),
};

/** No session ends during a measurement. */
export const SESSION_SECONDS = 3_600;

class Creations implements Operations {
  readonly attempts = null;
  revisionsPerOperation = 0n;
  revision = 0n;
  #before = 0;
  #created = 0;

  async prepare(connection: Connection): Promise<void> {
    const sessions = sessionsOf(connection);
    await sessions.allowMany();
    this.revisionsPerOperation = sessions.revisionsPerCreation;
    this.#before = await sessions.count();
    await this.perform(connection);
  }

  async perform(connection: Connection): Promise<void> {
    const { revision } = await sessionsOf(connection).create(SESSION_SECONDS);
    this.#created++;
    this.revision = greater(revision, this.revision);
  }

  async verify(connection: Connection): Promise<void> {
    const live = (await sessionsOf(connection).count()) - this.#before;
    if (live !== this.#created) {
      throw new Error(`${this.#created} sessions were created, but there are ${live}`);
    }
  }
}
