/** The state that a member reports to operators, the log of its changes, and the time of the last one. */

import type { PeerLog } from "../../peers/index.ts";
import type { Clock } from "../context/index.ts";
import type { MemberState } from "./member-options.ts";

export interface MemberStatus<State extends MemberState = MemberState> {
  readonly state: State;
  /** Why the data is not served, or what an empty directory waits for; "" if neither. */
  readonly reason: string;
}

/** Every phase of a member reports each new status here. */
export class StatusLog {
  readonly #clock: Clock;
  readonly #log: PeerLog;
  #last: MemberStatus;
  #sinceMs: number;

  /** The first status is not logged. */
  constructor(first: MemberStatus, clock: Clock, log: PeerLog) {
    this.#last = first;
    this.#clock = clock;
    this.#log = log;
    this.#sinceMs = clock.monotonicMs();
  }

  /** Milliseconds since the state last changed, whole. */
  get stateForMs(): number {
    return Math.floor(this.#clock.monotonicMs() - this.#sinceMs);
  }

  /** Logs the status unless it is the last one. */
  note({ state, reason }: MemberStatus): void {
    if (state === this.#last.state && reason === this.#last.reason) {
      return;
    }
    if (state !== this.#last.state) {
      this.#sinceMs = this.#clock.monotonicMs();
    }
    this.#last = { state, reason };
    this.#log.info({ state, reason }, "the state of this member has changed");
  }
}
