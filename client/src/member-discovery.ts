/**
 * Asks the cluster now and then who its members are, so that a client that lives long knows more than the endpoints that it
 * was configured with, some of which may be gone one day.
 *
 * It asks beside the operations of the client and only while there are any, and never fails: what cannot be asked now is
 * asked after a later operation.
 */

import { askForCluster } from "./cluster.ts";
import type { OperationContext } from "./operation.ts";
import { QuoinError } from "./quoin-error.ts";

/** How old a client is before it asks, in milliseconds: programs that do one thing and end need not know. */
const firstDelayMs = 1_000;
/** Between two questions, in milliseconds: members change seldom, and there may be many clients. */
const intervalMs = 60_000;
/** How long an answer may take, in milliseconds. */
const timeoutMs = 2_000;

/** Keeps the endpoints of a client up to date. */
export class MemberDiscovery {
  readonly #context: OperationContext;
  #isAsking = false;
  /** When it asks next, on the runtime's clock. */
  #dueMs: number;

  constructor(context: OperationContext) {
    this.#context = context;
    this.#dueMs = context.runtime.monotonicMs() + firstDelayMs;
  }

  /** An operation was answered: the cluster can be asked. */
  onAnswer(): void {
    const nowMs = this.#context.runtime.monotonicMs();
    if (this.#isAsking || nowMs < this.#dueMs) return;
    this.#isAsking = true;
    this.#dueMs = nowMs + intervalMs;
    void this.#ask();
  }

  async #ask(): Promise<void> {
    try {
      const { members } = await askForCluster(this.#context, { timeoutMs }, { maxAttempts: 1, countsUnreached: true });
      const voters = members.filter(({ learner }) => !learner);
      voters.sort((one, other) => Number(other.leader) - Number(one.leader));
      this.#context.pool.learn(voters.map(({ grpcEndpoint }) => grpcEndpoint));
    } catch (thrown) {
      if (!(thrown instanceof QuoinError)) throw thrown;
    } finally {
      this.#isAsking = false;
    }
  }
}
