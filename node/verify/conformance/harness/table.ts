/** A table of requirements: each entry has a title, and a function that checks it at the member under test. */

import type { TestContext } from "./test-context.ts";

export type Entries = Readonly<Record<string, (context: TestContext) => Promise<void>>>;

export interface Table {
  /** Name of an operation, or of a common aspect of several. */
  readonly name: string;
  readonly entries: Entries;
  /** Whether its entries disturb others, or measure times, so that each must run alone. */
  readonly alone?: boolean;
}
