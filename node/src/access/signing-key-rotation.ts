/**
 * Maintains the ring of signing keys, on the leader: adds a new key once a month, and drops keys that no token needs
 * any more.
 *
 * A proposal names the key that it replaces. So two members that both believe to be the leader rotate only once.
 */

import type { Clock } from "../replica/index.ts";
import { type ClusterOperation, endedSigningKeys, readSigningKeys, type StateReader } from "../state/index.ts";
import { generateSigningKey } from "./signing-ring.ts";

/** The member while it is the leader. */
export interface LeadingMember {
  readonly state: StateReader;
  /** Proposes the operation, and calls `done` when it is over, whatever its outcome. */
  propose(operation: ClusterOperation, done: () => void): void;
}

/** How long a key signs, in milliseconds of wall clock. */
const SIGNS_MS = 30 * 86_400_000;

export class SigningKeyRotation {
  readonly #clock: Pick<Clock, "wallMs">;
  readonly #leading: () => LeadingMember | null;
  #isBusy = false;

  /** @param leading returns null if this member is not the leader. */
  constructor(clock: Pick<Clock, "wallMs">, leading: () => LeadingMember | null) {
    this.#clock = clock;
    this.#leading = leading;
  }

  /** Call it periodically. Resolves when it has proposed what was due. */
  async rotateIfDue(): Promise<void> {
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
