/**
 * The configuration: which members vote, which ones only learn, and since which log index.
 *
 * A configuration changes only when its entry is applied. A change of at most one voter is simple. A change of more
 * voters goes through a joint configuration, which needs both the old and the new majority, until a Leave entry ends it
 * (Ongaro 2014 §4.3). A member's id is the index of the entry that added it, so no id is ever used twice. These are
 * pure functions. They refuse an invalid change with a reason, at the proposal and again when it is applied.
 */

import { invariant } from "../primitives/index.ts";

/** Roles of the members as of `index`, the log index of the entry that made it; index 0 has no members. */
export interface Configuration {
  readonly index: number;
  /** Ids of the members whose acknowledgements count. All lists here are in ascending order. */
  readonly voters: readonly number[];
  /** While joint: the voters before the change; commits and elections need their majority as well. Otherwise empty. */
  readonly outgoing: readonly number[];
  /** Members that receive the log but count for nothing. */
  readonly learners: readonly number[];
  /** While joint: outgoing voters that become learners when it ends. */
  readonly learnersNext: readonly number[];
  /** While joint: whether the leader ends it as soon as it is applied. */
  readonly autoLeave: boolean;
}

/** The configuration before any configuration entry is applied: it has no voters, so no member can be elected. */
export const NO_CONFIGURATION: Configuration = {
  index: 0,
  voters: [],
  outgoing: [],
  learners: [],
  learnersNext: [],
  autoLeave: false,
};

/** A change of the configuration, carried by an entry of its type. */
export type ConfigurationChange =
  | { readonly type: "bootstrap" }
  | { readonly type: "add-slot" }
  | {
      readonly type: "reconfigure";
      readonly promote: readonly number[];
      readonly demote: readonly number[];
      readonly remove: readonly number[];
    }
  | { readonly type: "leave" };

/** Why a change is not allowed now. */
export type ChangeRefusal =
  /** A joint configuration admits nothing but its end. */
  | "change-in-progress"
  /** The configuration has changed since the caller read it. */
  | "config-changed"
  /** It would leave no voter. */
  | "last-voter"
  /** It promotes or demotes an id that is not a member. */
  | "unknown-member"
  /** It names a member twice. */
  | "contradictory"
  /** The cluster is founded already, or not yet. */
  | "not-founded";

export function isJoint(configuration: Configuration): boolean {
  return configuration.outgoing.length > 0;
}

/** The ids of all members, in any role, in ascending order. */
export function members(configuration: Configuration): number[] {
  const { voters, outgoing, learners, learnersNext } = configuration;
  return ascending(new Set([...voters, ...outgoing, ...learners, ...learnersNext]));
}

/**
 * Returns the configuration after the change at this index, or why it is not allowed. `expectIndex` is the index of the
 * configuration that the caller wants to change, 0 = any.
 */
export function changeConfiguration(
  before: Configuration,
  index: number,
  change: ConfigurationChange,
  expectIndex: number,
): Configuration | ChangeRefusal {
  invariant(index > before.index, "configuration entries come in the order of the log", () => {
    return `${index} after ${before.index}`;
  });
  const isFounded = before.voters.length > 0;
  if (expectIndex !== 0 && expectIndex !== before.index) {
    return "config-changed";
  }
  if (change.type === "bootstrap") {
    return isFounded ? "not-founded" : { ...NO_CONFIGURATION, index, voters: [index] };
  }
  if (!isFounded) {
    return "not-founded";
  }
  if (change.type === "leave") {
    return leave(before, index);
  }
  if (isJoint(before)) {
    return "change-in-progress";
  }
  if (change.type === "add-slot") {
    return checked({ ...before, index, learners: [...before.learners, index] });
  }
  return reconfigure(before, index, change);
}

/** Ends a joint configuration. Otherwise only the index changes: a second Leave is harmless (P22). */
function leave(before: Configuration, index: number): Configuration {
  if (!isJoint(before)) {
    return { ...before, index };
  }
  return checked({
    index,
    voters: before.voters,
    outgoing: [],
    learners: ascending(new Set([...before.learners, ...before.learnersNext])),
    learnersNext: [],
    autoLeave: false,
  });
}

function reconfigure(
  before: Configuration,
  index: number,
  change: ConfigurationChange & { readonly type: "reconfigure" },
): Configuration | ChangeRefusal {
  const { promote, demote, remove } = change;
  const named = [...promote, ...demote, ...remove];
  if (new Set(named).size !== named.length) {
    return "contradictory";
  }
  const known = new Set(members(before));
  if (![...promote, ...demote].every((id) => known.has(id))) {
    return "unknown-member";
  }
  const voters = new Set([...before.voters, ...promote]);
  const learners = new Set(before.learners);
  for (const id of promote) {
    learners.delete(id);
  }
  const demoted = demote.filter((id) => voters.delete(id));
  for (const id of remove) {
    voters.delete(id);
    learners.delete(id);
  }
  if (voters.size === 0) {
    return "last-voter";
  }
  const changed = [...voters].filter((id) => !before.voters.includes(id)).length;
  const gone = before.voters.filter((id) => !voters.has(id)).length;
  if (changed + gone <= 1) {
    return checked({
      index,
      voters: ascending(voters),
      outgoing: [],
      learners: ascending(new Set([...learners, ...demoted])),
      learnersNext: [],
      autoLeave: false,
    });
  }
  return checked({
    index,
    voters: ascending(voters),
    outgoing: before.voters,
    learners: ascending(learners),
    learnersNext: ascending(new Set(demoted)),
    autoLeave: true,
  });
}

/** Asserts the rules of every configuration: it has voters, and no member both votes and learns. */
function checked(configuration: Configuration): Configuration {
  const { voters, outgoing, learners, learnersNext, autoLeave } = configuration;
  invariant(voters.length > 0, "a configuration has a voter");
  invariant(
    !learners.some((id) => voters.includes(id) || outgoing.includes(id)),
    "no member both votes and learns",
    () => {
      return `voters ${voters.join()}, outgoing ${outgoing.join()}, learners ${learners.join()}`;
    },
  );
  invariant(
    learnersNext.every((id) => outgoing.includes(id) && !voters.includes(id)),
    "a member that will learn votes only in the outgoing configuration",
    () => `learners next ${learnersNext.join()}`,
  );
  invariant(outgoing.length > 0 || (learnersNext.length === 0 && !autoLeave), "only joint configurations end");
  return configuration;
}

function ascending(ids: ReadonlySet<number>): number[] {
  return [...ids].sort((a, b) => a - b);
}
