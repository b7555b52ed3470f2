/** Faults that a scenario arms, and which of them a call meets. */

import type { Value } from "./values.ts";

/** An error that a proxy gives instead of an answer. */
export interface ErrorAnswer {
  readonly code: string;
  readonly reason?: string;
  readonly outcome?: string;
  readonly message?: string;
  /** The member that the error names as the leader. */
  readonly leader?: string;
  readonly retry_after_ms?: number;
  readonly details?: Readonly<Record<string, string>>;
}

/** What happens to a call: after the delay, one of the other fields. The last three are for streams. */
export interface Effect {
  readonly delay_ms?: number;
  readonly answer?: ErrorAnswer;
  readonly lose_answer?: "cut" | ErrorAnswer;
  readonly hang?: true;
  readonly cut?: true;
  readonly change?: Readonly<Record<string, Value>>;
  readonly end_after?: number;
  readonly with?: "cut" | ErrorAnswer;
  readonly silence_after?: number;
}

/** A fault of calls. */
export interface CallFault extends Effect {
  /** Name of a method, or `any`. */
  readonly on: string;
  /** How many calls it concerns; by default all. */
  readonly times?: number;
  /** The calls that it leaves alone before. Default 0. */
  readonly after?: number;
  /** The only member that it concerns. */
  readonly at?: string;
}

interface Armed {
  readonly fault: CallFault;
  seen: number;
}

/** The armed faults of one scenario. The first one that concerns a call is the only one that it meets. */
export class Faults {
  #armed: Armed[] = [];

  arm(fault: CallFault): void {
    this.#armed.push({ fault, seen: 0 });
  }

  clear(): void {
    this.#armed = [];
  }

  /** What happens to this call; undefined = nothing. */
  meet(method: string, member: string): Effect | undefined {
    for (const armed of this.#armed) {
      const { on, times = Number.POSITIVE_INFINITY, after = 0, at = member } = armed.fault;
      if ((on !== "any" && on !== method) || at !== member || armed.seen >= after + times) {
        continue;
      }
      armed.seen += 1;
      if (armed.seen > after) {
        return armed.fault;
      }
    }
    return undefined;
  }
}
