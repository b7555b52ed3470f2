/**
 * The rule for a removed member that goes for good: the cluster does not need it any more. While a power cut could make
 * a majority of the others forget that its removal is committed, its vote may be needed to commit the removal again
 * (P18).
 */

import type { Configuration } from "../../src/raft/index.ts";
import type { Cluster } from "../../src/state/index.ts";
import { isQuorum } from "./membership-rules.ts";
import { must } from "./rule-violation.ts";

export class DepartureRules {
  /** The newest record that any member has applied. */
  #newest: Cluster | null = null;
  /** All configurations that were ever in force. */
  readonly #configurations: Configuration[] = [];
  /** By removed member, the index of the entry that has removed it. */
  readonly #removedAt = new Map<number, number>();
  /** The greatest commit index that was durable in the log of each member. */
  readonly #commits = new Map<number, number>();

  /** A member has applied this record. */
  onRecord(cluster: Cluster): void {
    const before = this.#newest;
    if (before !== null && cluster.configuration.index <= before.configuration.index) {
      return;
    }
    this.#newest = cluster;
    this.#configurations.push(cluster.configuration);
    for (const { id } of before?.members ?? []) {
      if (cluster.members.every((member) => member.id !== id)) {
        this.#removedAt.set(id, cluster.configuration.index);
      }
    }
  }

  /** A write of the member is on its disk, with this commit index. */
  onCommitDurable(id: number, commit: number): void {
    this.#commits.set(id, Math.max(commit, this.#commits.get(id) ?? 0));
  }

  /** The member goes, and its data with it. */
  onGone(id: number): void {
    const removedAt = this.#removedAt.get(id);
    if (this.#newest === null) {
      return;
    }
    must(removedAt !== undefined, "P18 only who was removed goes", () => `m${id}`);
    const knowing = new Set([...this.#commits].filter(([, commit]) => commit >= removedAt).map(([one]) => one));
    // A fact that a majority of one configuration knows durably is known to every later one, also to one that is being
    // made.
    const since = this.#configurations.filter(({ index }) => index >= removedAt);
    must(
      since.some((configuration) => isQuorum(knowing, configuration)),
      "P18 a member goes only when it is not needed again",
      () => {
        const voters = since.map((configuration) => configuration.voters.join()).join(", then ");
        return `m${id} was removed at ${removedAt}, which ${[...knowing].join()} of ${voters} know to be committed`;
      },
    );
  }
}
