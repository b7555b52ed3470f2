/**
 * Keeps the ring of signing keys as it should be, on the member that leads: a new key once a month, and no key for longer
 * than tokens need it.
 *
 * What is proposed says which key it replaces, so that two members that both lead, as they think, rotate once.
 */

import type { Clock } from "../replica/index.ts";
import { type ClusterOperation, endedSigningKeys, readSigningKeys, type StateReader } from "../state/index.ts";
import { generateSigningKey } from "./signing-ring.ts";

/** The member as it leads. */
export interface LeadingMember {
  readonly state: StateReader;
  /** Proposes the operation and calls back when it is over, whatever has become of it. */
  propose(operation: ClusterOperation, done: () => void): void;
}

/** A key signs for so long, in milliseconds of wall clock. */
const SIGNS_MS = 30 * 86_400_000;

export class SigningKeyCare {
  readonly #clock: Pick<Clock, "wallMs">;
  readonly #leading: () => LeadingMember | null;
  #isBusy = false;

  /** @param leading null if this member does not lead. */
  constructor(clock: Pick<Clock, "wallMs">, leading: () => LeadingMember | null) {
    this.#clock = clock;
    this.#leading = leading;
  }

  /** To be called from time to time; resolves when what was due is proposed. */
  async look(): Promise<void> {
    const member = this.#leading();
    if (member === null || this.#isBusy) {
      return;
    }
    const wallMs = this.#clock.wallMs();
    const [newest] = readSigningKeys(member.state);
    if (newest === undefined) {
      return;
    }
    const isOld = newest.createdAtMs + SIGNS_MS <= wallMs;
    if (!isOld && endedSigningKeys(member.state, wallMs).length === 0) {
      return;
    }
    this.#isBusy = true;
    const done = () => {
      this.#isBusy = false;
    };
    try {
      const key = isOld ? await generateSigningKey() : null;
      const asked = { ifKid: newest.kid, subject: "", request: null };
      member.propose(
        key === null ? { kind: "drop-signing-keys" } : { kind: "rotate-signing-key", ...key, ...asked },
        done,
      );
    } catch (error) {
      done();
      throw error;
    }
  }
}
