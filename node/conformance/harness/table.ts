/** A table of what must hold: a title for each entry, and what shows that it holds at the member that is asked. */

import type { Place } from "./place.ts";

export type Entries = Readonly<Record<string, (place: Place) => Promise<void>>>;

export interface Table {
  /** Of an operation, or of what several have in common. */
  readonly name: string;
  readonly entries: Entries;
  /** Whether its entries disturb others, or measure times, so that each must run by itself. */
  readonly alone?: boolean;
}

/** Thrown by an entry that cannot be tried at this endpoint, and why. */
export class NotApplicable extends Error {}
