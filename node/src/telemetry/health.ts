/**
 * The answers of `/startupz`, `/livez` and `/readyz`: named checks, each passing or failing with a reason.
 */

import { gauge, type Metric } from "./metric.ts";

/** The result of one check; `reason` says why it failed. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly reason: string;
}

/** Runs one check now. Returns null if it passes, else the reason. */
export type Test = () => string | null;

/** The checks behind each answer, by name. */
export interface Tests {
  readonly started: ReadonlyMap<string, Test>;
  readonly live: ReadonlyMap<string, Test>;
  readonly ready: ReadonlyMap<string, Test>;
}

export class Health {
  readonly #tests: Tests;

  constructor(tests: Tests) {
    this.#tests = tests;
  }

  /** Whether the process has started, in any state. */
  started(): Check[] {
    return run(this.#tests.started);
  }

  /** Whether the process works at all; never depends on other members. */
  live(): Check[] {
    return run(this.#tests.live);
  }

  /** Whether this member can serve clients now. */
  ready(): Check[] {
    return run(this.#tests.ready);
  }
}

export const HEALTH_METRICS: readonly Metric<Health>[] = [
  gauge({
    name: "quoin_ready_check",
    help: "1 for each check of /readyz that passes; the member is ready while all do.",
    labels: ["check"],
    read: (health) => health.ready().map(({ name, ok }) => [[name], Number(ok)]),
  }),
];

function run(tests: ReadonlyMap<string, Test>): Check[] {
  return [...tests].map(([name, test]) => {
    const reason = test();
    return { name, ok: reason === null, reason: reason ?? "" };
  });
}
