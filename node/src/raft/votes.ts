/** The answers in one election, pre-vote or real: each voter counts once (P35). */

import type { Configuration } from "./configuration.ts";
import { type ElectionState, election } from "./quorum.ts";

export class Votes {
  readonly #answers = new Map<number, boolean>();

  /** Counts the voter's first answer; later ones change nothing. */
  record(voter: number, granted: boolean): void {
    if (!this.#answers.has(voter)) {
      this.#answers.set(voter, granted);
    }
  }

  result(configuration: Configuration): ElectionState {
    return election(configuration, (voter) => this.#answers.get(voter));
  }
}
