/** What a run came to, in words: one line if all is well, everything that helps to understand it if not. */

import type { RunResult } from "./simulation.ts";

/** Events that are shown before a failure. */
const LINES = 100;

export function describeRun({ seed, failure, traceHash, nowMs, events, plan, lines, counts }: RunResult): string {
  const numbers = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  const seconds = `${(nowMs / 1000).toFixed(1)} s`;
  if (failure === null) {
    return `seed ${seed}  trace ${traceHash}  ${seconds}  events ${events}  ${numbers.join("  ")}`;
  }
  const traits = [plan.isSteady ? "steady" : "", plan.isSmall ? "smallest limits" : ""].filter((one) => one !== "");
  return [
    `FAIL ${failure.rule}`,
    `seed ${seed}  trace ${traceHash}  after ${seconds}  event ${events}`,
    `members ${plan.members}  faults ${[...plan.faults.keys()].join(" ")}  changes ${[...plan.changes.keys()].join(" ")}`,
    `${traits.join(", ")}  ${numbers.join("  ")}`,
    "",
    ...lines.slice(-LINES),
    "",
    failure.details,
    "",
    `FAIL ${failure.rule}`,
    `repeat  npm run sim -- --seed ${seed} --seeds 1`,
  ].join("\n");
}
