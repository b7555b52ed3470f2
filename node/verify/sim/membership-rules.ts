/**
 * The rules of members and their configurations: an id belongs to one incarnation for ever, there is one cluster and
 * one change at a time, and quorums overlap.
 */

import {
  type Configuration,
  EntryType,
  entryIndex,
  entryTerm,
  entryType,
  isConfigurationType,
  members as membersOf,
} from "../../src/raft/index.ts";
import type { Cluster } from "../../src/state/index.ts";
import { must } from "./rule-violation.ts";

export class MembershipRules {
  readonly #clusterId: string;
  /** By every id that ever existed. */
  readonly #incarnations = new Map<number, string>();

  constructor(clusterId: string) {
    this.#clusterId = clusterId;
  }

  /** A process uses an id, or a record contains it; the incarnation is in hexadecimal digits. */
  onIdentity(id: number, incarnation: string): void {
    const known = this.#incarnations.get(id) ?? incarnation;
    must(known === incarnation, "I17 an id belongs to one incarnation for ever", () => {
      return `m${id}: ${known} and ${incarnation}`;
    });
    this.#incarnations.set(id, incarnation);
  }

  /** A record of the cluster is in force somewhere. */
  onCluster({ clusterId, members }: Cluster): void {
    must(clusterId === this.#clusterId, "I21 there is one cluster", () => `${clusterId}, not ${this.#clusterId}`);
    for (const { id, incarnation } of members) {
      if (incarnation.length > 0) {
        this.onIdentity(id, incarnation.toHex());
      }
    }
  }

  /** A member is about to write rows; `rowOf` returns rows of its log including them, up to `last`. */
  onRows(
    member: number,
    rows: readonly Uint8Array[],
    commit: number,
    last: number,
    rowOf: (index: number) => Uint8Array | undefined,
  ): void {
    for (const row of rows) {
      const isFounding = entryType(row) === EntryType.Bootstrap;
      must(!isFounding || (entryIndex(row) === 1 && entryTerm(row) === 1), "I21 a cluster is founded once", () => {
        return `m${member} at ${entryIndex(row)}/${entryTerm(row)}`;
      });
    }
    if (!rows.some((row) => isConfigurationType(entryType(row)))) {
      return;
    }
    const pending: number[] = [];
    for (let index = commit + 1; index <= last; index++) {
      const row = rowOf(index);
      if (row !== undefined && isConfigurationType(entryType(row))) {
        pending.push(index);
      }
    }
    must(pending.length <= 1, "I10 one change of the configuration is pending at a time", () => {
      return `m${member}: ${pending.join()} above commit ${commit}`;
    });
  }
}

/** Throws a RuleViolation unless every majority of one configuration overlaps with every majority of the next. */
export function checkNeighbours(before: Configuration, after: Configuration): void {
  const all = [...new Set([...membersOf(before), ...membersOf(after)])];
  for (let set = 0; set < 2 ** all.length; set++) {
    const inside = new Set(all.filter((_, at) => ((set >> at) & 1) === 1));
    const outside = new Set(all.filter((id) => !inside.has(id)));
    const isApart = isQuorum(inside, before) && isQuorum(outside, after);
    must(!isApart, "I10 neighbouring configurations share a quorum", () => {
      return `${[...inside].join()} of ${describe(before)}, ${[...outside].join()} of ${describe(after)}`;
    });
  }
}

/** Whether the holders are a majority of each half. */
export function isQuorum(holders: ReadonlySet<number>, { voters, outgoing }: Configuration): boolean {
  const hasMajorityOf = (half: readonly number[]): boolean => {
    return half.filter((id) => holders.has(id)).length > half.length / 2;
  };
  return hasMajorityOf(voters) && (outgoing.length === 0 || hasMajorityOf(outgoing));
}

function describe({ index, voters, outgoing }: Configuration): string {
  return `voters ${voters.join()}${outgoing.length > 0 ? ` and ${outgoing.join()}` : ""} of entry ${index}`;
}
