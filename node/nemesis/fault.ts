/** What a fault is, to those who plan and count faults, and to those who make them. */

import type { ClusterUnderTest, ConcurrentLoad } from "../test/harness/index.ts";
import type { BlockDisk } from "./block-disk.ts";
import type { Certificates } from "./certificates.ts";
import type { ControlGroup } from "./control-groups.ts";
import type { Network } from "./network.ts";
import type { SmallDisk } from "./small-disk.ts";
import type { SyncControl } from "./sync-shim.ts";

/** What was measured: the fault was there, it was not made, or nobody can tell. */
export interface Landing {
  readonly result: "landed" | "skipped" | "unclear";
  /** What was measured, or why it was not made. */
  readonly evidence: string;
}

/** What faults are made on. */
export interface Field {
  readonly cluster: ClusterUnderTest;
  readonly load: ConcurrentLoad;
  /** A whole number below the bound, by the seed of the run. */
  readonly random: (bound: number) => number;
  /** How long faults are made, in all. */
  readonly runMs: number;
  /** Null where there are no network faults. */
  readonly network: Network | null;
  /** By the names of the members whose data is there. */
  readonly smallDisks: ReadonlyMap<string, SmallDisk>;
  readonly blockDisks: ReadonlyMap<string, BlockDisk>;
  /** Gives back what the run made for a member that was removed for good. */
  readonly release: (name: string) => Promise<void>;
  /** By the names of the members whose syncs can be made to wait and to fail. */
  readonly syncControls: ReadonlyMap<string, SyncControl>;
  /** By the names of the members whose processor and memory can be limited. */
  readonly groups: ReadonlyMap<string, ControlGroup>;
  /** Null where members meet in plain TCP. */
  readonly certificates: Certificates | null;
  /** Gives a member that does not run another address; null where all have the same one. */
  readonly readdress: (name: string) => Promise<string | null>;
  /** Waits until no fault of the network goes on, and lets none begin before the action has ended. */
  readonly inQuiet: <T>(action: () => Promise<T>) => Promise<T>;
  /**
   * Notes that a member's disk may refuse writes from now on, or its data be damaged: it may end because of that, until
   * what is returned is called. Damage may be met at any later time.
   */
  readonly excuse: (name: string) => () => void;
  /** Notes that the system may kill this process of a member, which gets too little memory. */
  readonly excuseKill: (pid: number) => void;
}

/** What a kind of fault cannot be made without; "no delay" = it is there for kernels that cannot delay. */
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
  /** Faults of one lane come one after the other, those of different lanes at the same time. */
  readonly lane: Lane;
  readonly needs: readonly Need[];
  /**
   * Makes the fault, measures it, and ends it. When it returns, every member that it hurt serves again, as far as other
   * faults let it. Rejects if that does not come about.
   */
  readonly make: (field: Field) => Promise<Landing>;
}

export const landed = (evidence: string): Landing => ({ result: "landed", evidence });
export const skipped = (evidence: string): Landing => ({ result: "skipped", evidence });
export const unclear = (evidence: string): Landing => ({ result: "unclear", evidence });

/** One of them, by the seed. Raises an error if there is none. */
export function pick<T>(random: (bound: number) => number, from: readonly T[]): T {
  const picked = from[random(from.length)];
  if (picked === undefined) {
    throw new Error("there is nothing to pick from");
  }
  return picked;
}

/** A new order of them, by the seed (Fisher and Yates). */
export function shuffled<T>(random: (bound: number) => number, from: readonly T[]): T[] {
  const order = [...from];
  for (let last = order.length - 1; last > 0; last--) {
    const at = random(last + 1);
    [order[last], order[at]] = [order[at] as T, order[last] as T];
  }
  return order;
}

/** A duration between both ends, each order of magnitude as likely as another. */
export function spread(random: (bound: number) => number, fromMs: number, toMs: number): number {
  return Math.round(fromMs * (toMs / fromMs) ** (random(1_000) / 1_000));
}
