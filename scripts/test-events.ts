/**
 * What a process that runs specs reports to the test runner: one JSON object per line, appended to a file as things
 * happen, so that a crash loses nothing but its own report.
 */
import { appendFileSync, readFileSync } from "node:fs";

/** A test that failed, or anything else that makes the run fail. */
export interface Failure {
  /** The spec file, relative to the root of the repository. */
  readonly file: string;
  /** The full title of the test, or what went wrong outside of one. */
  readonly title: string;
  /** The error with its stack and the difference of values, ready to print. */
  readonly message: string;
}

/** `start` and `pass`, `fail` or `skip` for a test; `end` once, after everything else. */
export type TestEvent =
  | { readonly kind: "start"; readonly file: string; readonly title: string }
  | { readonly kind: "pass" }
  | { readonly kind: "skip" }
  | { readonly kind: "fail"; readonly failure: Failure }
  | { readonly kind: "end" };

/** Appends an event; it is in the file when this returns. */
export function writeEvent(file: string, event: TestEvent): void {
  appendFileSync(file, `${JSON.stringify(event)}\n`);
}

/** What came out of one process. */
export interface TestReport {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  /** Whether the process ran all of its files. */
  readonly complete: boolean;
  /** The test under way when the report stopped; undefined if it stopped between tests. */
  readonly unfinished: string | undefined;
}

/** @param file as written by `writeEvent`; a process that wrote nothing gives an empty, incomplete report */
export function readReport(file: string): TestReport {
  const failures: Failure[] = [];
  let passed = 0;
  let skipped = 0;
  let complete = false;
  let unfinished: string | undefined;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (!line.endsWith("}")) {
      continue; // The empty end of the file, or a line that a crash cut off.
    }
    const event = JSON.parse(line) as TestEvent;
    unfinished = event.kind === "start" ? `${event.file}: ${event.title}` : undefined;
    switch (event.kind) {
      case "pass":
        passed += 1;
        break;
      case "skip":
        skipped += 1;
        break;
      case "fail":
        failures.push(event.failure);
        break;
      case "end":
        complete = true;
        break;
      case "start":
        break;
    }
  }
  return { passed, skipped, failures, complete, unfinished };
}
