/**
 * The configuration: which members vote, and since which log index.
 *
 * A configuration takes effect when its entry is applied, and changes only so. A cluster is founded with one voter;
 * the member's id is the index of the entry that adds it, so the founder is member 1 and no id is ever used again.
 */

import { invariant } from "./violation.ts";

/** Roles of the members as of `index`, the log index of the entry that made it; index 0 has no members. */
export interface Configuration {
  readonly index: number;
  /** Ids of the members whose acknowledgements count, ascending. */
  readonly voters: readonly number[];
}

/** Before any configuration entry was applied: nobody votes and nobody can be elected. */
export const NO_CONFIGURATION: Configuration = { index: 0, voters: [] };

/** A change of the configuration, carried by an entry of its type. */
export type ConfigurationChange = { readonly type: "bootstrap" };

/** The configuration after the change at this index. A bootstrap founds the cluster, so nothing may come before it. */
export function changeConfiguration(before: Configuration, index: number, change: ConfigurationChange): Configuration {
  invariant(index > before.index, "configuration entries apply in the order of the log", () => {
    return `${index} after ${before.index}`;
  });
  switch (change.type) {
    case "bootstrap":
      invariant(before.voters.length === 0, "a cluster is founded once", () => `voters ${before.voters.join(",")}`);
      return { index, voters: [index] };
  }
}
