/**
 * The phases of a member. It is in exactly one of them, and each has only the fields that this phase needs. `Member`
 * contains every step from one to the next:
 *
 *     empty ───┐
 *              ├──► serving ───► halted ───► retired
 *     denied ──┘
 *     refused
 *
 * - `empty` to `serving`: the member founds a cluster, or joins one.
 * - `denied` to `serving`: the record outside of the data no longer names another cluster.
 * - `serving` to `halted`: the driver stops, because the process stops or the data must not be used any more.
 * - `halted` to `retired`: the data is marked as unusable, and later starts refuse it.
 *
 * The directory and the record decide whether a member starts as `empty`, `denied`, `refused` or `serving`. A stop closes
 * the stores, and turns only `serving` into `halted`.
 */

import type { Identity, RefusedState } from "../../storage/index.ts";
import type { DeniedPhase } from "./denied-phase.ts";
import type { EmptyPhase } from "./empty-phase.ts";
import type { OwnData } from "./member-context.ts";
import type { MemberStatus } from "./member-status.ts";
import type { HaltedPhase, ServingPhase } from "./serving-phase.ts";

export type MemberPhase = EmptyPhase | RefusedPhase | DeniedPhase | ServingPhase | HaltedPhase | RetiredPhase;

/** The data was lost, retired, or belongs to another member: this process never serves it. No store is open. */
export interface RefusedPhase {
  readonly kind: "refused";
  readonly status: MemberStatus<RefusedState>;
  /** Null if it cannot be read. */
  readonly identity: Identity | null;
}

/** The data is marked as unusable for good. */
export interface RetiredPhase {
  readonly kind: "retired";
  readonly status: MemberStatus<"MEMBER_REMOVED" | "MEMBER_REFUSED">;
  readonly own: OwnData;
  /** Resolves when the connections have ended and the stores are closed. */
  readonly closed: Promise<void>;
}
