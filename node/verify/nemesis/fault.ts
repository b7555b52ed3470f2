/** What a fault is, for the code that plans and counts faults, and for the code that makes them. */

import type { ClusterUnderTest, ConcurrentLoad } from "../../test/harness/index.ts";
import type { BlockDisk } from "./block-disk.ts";
import type { Certificates } from "./certificates.ts";
import type { ControlGroup } from "./control-groups.ts";
import type { Network } from "./network.ts";
import type { SmallDisk } from "./small-disk.ts";
import type { SyncControl } from "./sync-shim.ts";
import type { UnnoticedDamage } from "./unnoticed-damage.ts";

/** What was measured: the fault took effect, it was not made, or its effect is unclear. */
export interface FaultResult {
  readonly result: "landed" | "skipped" | "unclear";
  /** The measurement, or why the fault was not made. */
  readonly evidence: string;
}

/** Everything that faults need. */
export interface FaultContext {
  readonly cluster: ClusterUnderTest;
  readonly load: ConcurrentLoad;
  /** A whole number below the bound, by the seed of the run. */
  readonly random: (bound: number) => number;
  /** Total time for making faults, in milliseconds. */
  readonly runMs: number;
  /** Null if there are no network faults. */
  readonly network: Network | null;
  /** By the names of the members whose data is on them. */
  readonly smallDisks: ReadonlyMap<string, SmallDisk>;
  readonly blockDisks: ReadonlyMap<string, BlockDisk>;
  /** Releases the resources of a member that was removed for good. */
  readonly release: (name: string) => Promise<void>;
  /** By the names of the members whose syncs can be made to wait and to fail. */
  readonly syncControls: ReadonlyMap<string, SyncControl>;
  /** By the names of the members whose processor and memory can be limited. */
  readonly groups: ReadonlyMap<string, ControlGroup>;
  /** Null if members use plain TCP. */
  readonly certificates: Certificates | null;
  /** Gives a stopped member another address and returns it; null if all members share one address. */
  readonly readdress: (name: string) => Promise<string | null>;
  /** Waits until there is no network fault, and lets none begin before the action has ended. */
  readonly inQuiet: <T>(action: () => Promise<T>) => Promise<T>;
  /**
   * Notes that a member's disk may refuse writes from now on, or that its data is damaged: the member may end because
   * of that until the returned function is called. Damage may take effect at any later time.
   */
  readonly excuse: (name: string) => () => void;
  /** Members whose data was damaged; a fault that loses the data or the slot of another one replaces them first. */
  readonly damage: UnnoticedDamage;
  /** Notes that the system may kill this process of a member, which gets too little memory. */
  readonly excuseKill: (pid: number) => void;
}

/** Requirements of a kind of fault. "no delay" = only for kernels that cannot delay packets. */
export type Need =
  | "network"
  | "rate"
  | "delay"
  | "no delay"
  | "reordering"
  | "small disk"
  | "block disk"
  | "sync shim"
  | "limits"
  | "certificates";

export const LANES = ["network", "member", "certificates"] as const;
export type Lane = (typeof LANES)[number];

export interface FaultKind {
  readonly name: string;
  /** Faults of one lane follow each other; those of different lanes run at the same time. */
  readonly lane: Lane;
  readonly needs: readonly Need[];
  /**
   * Makes the fault, measures it, and ends it. When it resolves, every affected member serves again, as far as other
   * faults allow. Rejects if a member does not.
   */
  readonly make: (context: FaultContext) => Promise<FaultResult>;
}

export const landed = (evidence: string): FaultResult => ({ result: "landed", evidence });
export const skipped = (evidence: string): FaultResult => ({ result: "skipped", evidence });
export const unclear = (evidence: string): FaultResult => ({ result: "unclear", evidence });

/** A random element, by the seed. Raises an error if there is none. */
export function pick<T>(random: (bound: number) => number, from: readonly T[]): T {
  const picked = from[random(from.length)];
  if (picked === undefined) {
    throw new Error("there is nothing to pick from");
  }
  return picked;
}

/** A random permutation, by the seed (Fisher and Yates). */
export function shuffled<T>(random: (bound: number) => number, from: readonly T[]): T[] {
  const order = [...from];
  for (let last = order.length - 1; last > 0; last--) {
    const at = random(last + 1);
    [order[last], order[at]] = [order[at] as T, order[last] as T];
  }
  return order;
}

/** A random duration between both ends; all orders of magnitude are equally likely. */
export function spread(random: (bound: number) => number, fromMs: number, toMs: number): number {
  return Math.round(fromMs * (toMs / fromMs) ** (random(1_000) / 1_000));
}
