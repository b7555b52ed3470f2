/** What catches a mutant: tests of a spec file, a scenario of the consensus core, or seeds of the simulator. */

export type Killer =
  /** `grep` is part of the titles of the tests; without it all of them run. */
  | { readonly spec: string; readonly grep?: string }
  | { readonly scenario: string }
  /** The first seed, and the number of seeds. */
  | { readonly seeds: readonly [number, number] };

/** The spec that runs all scenarios, from the root of the repository. */
export const SCENARIOS_SPEC = "node/verify/scenarios/scenarios.spec.ts";

const SCENARIO_TITLE = /^scenarios (\S+) happens as written$/;

/** The title of the test that runs a scenario. */
export function titleOfScenario(name: string): string {
  return `scenarios ${name} happens as written`;
}

/** The failed test as a killer. */
export function killerOf(spec: string, title: string): Killer {
  const scenario = spec === SCENARIOS_SPEC ? SCENARIO_TITLE.exec(title)?.[1] : undefined;
  return scenario === undefined ? { spec, grep: title } : { scenario };
}

export function describeKiller(killer: Killer): string {
  if ("scenario" in killer) {
    return `scenario ${killer.scenario}`;
  }
  if ("seeds" in killer) {
    const [first, count] = killer.seeds;
    return count === 1 ? `seed ${first}` : `seeds ${first} to ${first + count - 1}`;
  }
  const file = killer.spec.replace(/^node\//, "");
  return killer.grep === undefined ? file : `${file}: ${killer.grep}`;
}
