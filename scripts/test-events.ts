/**
 * The events that a spec process reports to the test runner: one JSON object per line, appended to a file at once, so
 * that a crash loses only its own report.
 */
import { appendFileSync, readFileSync } from "node:fs";

/** A failed test, or any other reason why the run fails. */
export interface Failure {
  /** The spec file, relative to the root of the repository. */
  readonly file: string;
  /** The full title of the test, or the problem outside of a test. */
  readonly title: string;
  /** The error with its stack and the difference of values, ready to print. */
  readonly message: string;
}

/** `start` and one of `pass`, `fail` or `skip` for each test; `file` after each file; `end` once, after everything else. */
export type TestEvent =
  | { readonly kind: "start"; readonly file: string; readonly title: string }
  | { readonly kind: "pass" }
  | { readonly kind: "skip" }
  | { readonly kind: "fail"; readonly failure: Failure }
  | { readonly kind: "file"; readonly file: string; readonly durationMs: number }
  | { readonly kind: "end" };

/** Appends an event; the file contains it when this returns. */
export function writeEvent(file: string, event: TestEvent): void {
  appendFileSync(file, `${JSON.stringify(event)}\n`);
}

/** The results of one process. */
export interface TestReport {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  /** Milliseconds for each file that has ended. */
  readonly durationsMs: ReadonlyMap<string, number>;
  /** Whether the process ran all of its files. */
  readonly complete: boolean;
  /** The running test at the end of the report; undefined if the report ends between tests. */
  readonly unfinished: string | undefined;
}

/** @param file as written by `writeEvent`; a process that wrote nothing gives an empty, incomplete report */
export function readReport(file: string): TestReport {
  const failures: Failure[] = [];
  const durationsMs = new Map<string, number>();
  let passed = 0;
  let skipped = 0;
  let complete = false;
  let unfinished: string | undefined;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (!line.endsWith("}")) {
      continue; // The empty end of the file, or a line that a crash truncated.
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
      case "file":
        durationsMs.set(event.file, event.durationMs);
        break;
      case "end":
        complete = true;
        break;
      case "start":
        break;
    }
  }
  return { passed, skipped, failures, durationsMs, complete, unfinished };
}
