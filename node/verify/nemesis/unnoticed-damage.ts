/**
 * Members whose data was damaged, and which serve nevertheless. A member notices damage to its state when it reads that
 * part of the file, possibly much later, and then ends. Before a fault takes away the data or the slot of another
 * member, these are replaced, because no protocol survives the loss of more than a minority.
 */

import type { ClusterUnderTest } from "../../test/harness/index.ts";
import { replace } from "./recovery.ts";

export class UnnoticedDamage {
  readonly #names = new Set<string>();

  /** The data of this member was damaged. */
  note(name: string): void {
    this.#names.add(name);
  }

  /** Replaces all damaged members except this one, whether they have noticed the damage or not. */
  async replaceOthers(cluster: ClusterUnderTest, name: string): Promise<void> {
    for (const damaged of this.#names) {
      if (damaged !== name) {
        const member = cluster.members.find((candidate) => candidate.name === damaged);
        if (member !== undefined) {
          await replace(cluster, member);
        }
        this.#names.delete(damaged);
      }
    }
  }
}
