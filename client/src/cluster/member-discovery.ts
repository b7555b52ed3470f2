/**
 * Requests the members of the cluster at intervals, so that a long-lived client knows more than its configured
 * endpoints, which may disappear one day.
 *
 * It runs beside the operations of the client, only while there are any, and never fails: a failed request is repeated
 * after a later operation.
 */

import type { OperationContext } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { fetchCluster } from "./cluster.ts";

/** How old a client is before its first request, in milliseconds: short-lived programs do not need it. */
const FIRST_DELAY_MS = 1_000;
/** The interval of the requests, in milliseconds: members change seldom, and there may be many clients. */
const INTERVAL_MS = 60_000;
/** The time limit of a request, in milliseconds. */
const TIMEOUT_MS = 2_000;

/** Keeps the endpoints of a client up to date. */
export class MemberDiscovery {
  readonly #context: OperationContext;
  #isAsking = false;
  /** When the next request is due, on the runtime's clock. */
  #dueMs: number;

  constructor(context: OperationContext) {
    this.#context = context;
    this.#dueMs = context.runtime.monotonicMs() + FIRST_DELAY_MS;
  }

  /** An operation was answered, so the cluster is reachable. */
  onAnswer(): void {
    const nowMs = this.#context.runtime.monotonicMs();
    if (this.#isAsking || nowMs < this.#dueMs) {
      return;
    }
    this.#isAsking = true;
    this.#dueMs = nowMs + INTERVAL_MS;
    void this.#ask();
  }

  async #ask(): Promise<void> {
    try {
      const { members } = await fetchCluster(
        this.#context,
        { timeoutMs: TIMEOUT_MS },
        { maxAttempts: 1, countsUnreached: true },
      );
      const voters = members.filter(({ learner }) => !learner);
      voters.sort((one, other) => Number(other.leader) - Number(one.leader));
      this.#context.pool.addDiscovered(voters.map(({ grpcEndpoint }) => grpcEndpoint));
    } catch (thrown) {
      if (!(thrown instanceof QuoinError)) {
        throw thrown;
      }
    } finally {
      this.#isAsking = false;
    }
  }
}
