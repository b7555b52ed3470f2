import { basename } from "node:path";

interface Duration {
  totalMs: number;
  /** The part before and after its tests: setup and removal. */
  hooksMs: number;
}

/** Records how long each file takes. The returned function gives one line for each file, in running order. */
export function watchDurations(runner: Mocha.Runner): () => string[] {
  const durations = new Map<string, Duration>();
  let suiteMs = 0;
  let hookMs = 0;
  const durationOf = ({ file = "" }: { readonly file?: string | undefined }): Duration => {
    const name = basename(file, ".spec.ts");
    const duration = durations.get(name) ?? { totalMs: 0, hooksMs: 0 };
    durations.set(name, duration);
    return duration;
  };
  runner.on("suite", (suite) => {
    if (suite.parent?.root) {
      suiteMs = performance.now();
    }
  });
  runner.on("suite end", (suite) => {
    if (suite.parent?.root) {
      durationOf(suite).totalMs += performance.now() - suiteMs;
    }
  });
  runner.on("hook", () => {
    hookMs = performance.now();
  });
  runner.on("hook end", (hook) => {
    durationOf(hook).hooksMs += performance.now() - hookMs;
  });
  return () =>
    [...durations].map(
      ([name, { totalMs, hooksMs }]) =>
        `${name.padEnd(20)}${inSeconds(totalMs)} of which before and after its tests ${inSeconds(hooksMs)}`,
    );
}

function inSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1).padStart(7)} s`;
}
