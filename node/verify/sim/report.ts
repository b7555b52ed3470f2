/** The result of a run in words: one line if all is well, everything that helps to understand the failure if not. */

import type { RunResult } from "./run-result.ts";
import type { TraceLine } from "./trace.ts";

/** Facts that are not known inside a run. */
export interface Surroundings {
  /** Short hash of the program's version; "" if it is not known. */
  readonly commit: string;
  /** The command that repeats the run. */
  readonly repeat: string;
}

const LANE = "   ·";

export function describeRun(result: RunResult, surroundings: Surroundings | null = null): string {
  const { script, failure, traceHash, nowMs, events, counts } = result;
  const numbers = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  const seconds = `t=${(nowMs / 1000).toFixed(3)}s`;
  if (failure === null) {
    return `seed ${script.seed}  trace ${traceHash}  ${seconds}  event ${events}  ${numbers.join("  ")}`;
  }
  const commit = surroundings === null || surroundings.commit === "" ? "" : `  commit ${surroundings.commit}`;
  return [
    `FAIL ${failure.rule}`,
    `seed ${script.seed} ${commit}  event ${events}  ${seconds}  trace ${traceHash}`,
    describeScript(result),
    `rule    ${failure.details.replaceAll("\n", "\n        ")}`,
    `repeat  ${surroundings?.repeat ?? `npm run sim -- --seed ${script.seed} --seeds 1`}`,
    "",
    ...describeLines(result.lines),
    "",
    result.states,
    numbers.join("  "),
    "",
    `FAIL ${failure.rule}`,
  ].join("\n");
}

function describeScript({ script }: RunResult): string {
  const { plan, items } = script;
  const kinds = (what: "fault" | "change"): string => {
    const found = items.flatMap((item) => (item.what !== "operation" && item.what === what ? [item.kind] : []));
    return [...new Set(found)].sort().join(" ") || "none";
  };
  const limits = plan.isSmall ? "smallest" : "usual";
  const steady = plan.isSteady ? "  steady" : "";
  return `members ${plan.members}  faults ${kinds("fault")}  changes ${kinds("change")}  limits ${limits}${steady}  items ${items.length}`;
}

/** A lane for each member, with its events. */
export function describeLines(lines: readonly TraceLine[]): string[] {
  const members = [...new Set(lines.map(({ who }) => who))].filter((who) => who !== 0).sort((a, b) => a - b);
  return lines.map((line) => describeLine(line, members));
}

/** The same for one line; members without a lane are named before it. */
export function describeLine({ atMs, who, words }: TraceLine, members: readonly number[] = []): string {
  const name = `m${who}`;
  const lanes = members.map((member) => (member === who ? name.padStart(LANE.length) : LANE)).join("");
  const place = members.length > 0 ? lanes : (who === 0 ? "" : name).padStart(LANE.length);
  return `${(atMs / 1000).toFixed(6).padStart(11)} ${place}  ${words}`;
}
