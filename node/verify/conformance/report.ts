/** The output of the command: each failure at once, a line for each finished table, and the totals. */

import type { Outcome, Result, TestCase } from "./run.ts";

export class Report {
  readonly #endpoints: readonly string[];
  readonly #print: (line: string) => void;
  readonly #counts: Record<Outcome, number> = { passed: 0, failed: 0, skipped: 0 };
  /** Number of outstanding trials, by the name of their table. */
  readonly #awaited = new Map<string, number>();
  readonly #failedOf = new Map<string, number>();
  readonly #skipped = new Map<string, number>();

  constructor(testCases: readonly TestCase[], endpoints: readonly string[], print: (line: string) => void) {
    this.#endpoints = endpoints;
    this.#print = print;
    for (const { table } of testCases) {
      add(this.#awaited, table.name, 1);
    }
  }

  add({ testCase, outcome, error }: Result): void {
    const { table, title, member } = testCase;
    this.#counts[outcome]++;
    if (outcome === "failed") {
      add(this.#failedOf, table.name, 1);
      this.#print(`FAILED ${table.name}: ${title}\n    at ${this.#endpoints[member]}: ${error?.stack}\n`);
    } else if (outcome === "skipped") {
      add(this.#skipped, error?.message ?? "", 1);
    }
    add(this.#awaited, table.name, -1);
    if (this.#awaited.get(table.name) === 0) {
      this.#print(`${this.#failedOf.has(table.name) ? "FAILED" : "ok"} ${table.name}`);
    }
  }

  /** Prints why entries were skipped, and then the line `N passed, N failed`. Returns whether the run succeeded. */
  finish(): boolean {
    const { passed, failed, skipped } = this.#counts;
    for (const [reason, count] of this.#skipped) {
      this.#print(`skipped ${count}: ${reason}`);
    }
    this.#print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
    return failed === 0 && passed > 0;
  }
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}
