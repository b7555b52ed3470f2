/** What `npm run bench -- compare` is asked for. */

import { Command, InvalidArgumentError, Option } from "commander";
import type { Peer } from "../clusters/index.ts";
import { GO_SCENARIOS, type Scenario, scenarios } from "../scenarios/index.ts";

/** What sends the requests: this process, or the program in Go. */
export type Generator = "node" | "go";

export interface CompareOptions {
  readonly peer: Peer;
  readonly generator: Generator;
  /** In the order in which they are measured. */
  readonly scenarios: readonly Scenario[];
  /** A run ends with whichever comes first. */
  readonly seconds: number;
  readonly operations: number;
  readonly warmUpSeconds: number;
  /** Files for the table as Markdown and for the figures as JSON; null = none. */
  readonly markdown: string | null;
  readonly json: string | null;
}

/** What each peer can do as well. */
const SCENARIOS: Readonly<Record<Peer, readonly string[]>> = {
  etcd: ["put", "get", "lock", "handover", "watch", "cas"],
  nats: ["append-keyed", "append-batch"],
};

/** The command that hands its options to `onOptions`. */
export function compareCommand(
  parseCount: (text: string) => number,
  onOptions: (options: CompareOptions) => void,
): Command {
  const peers = Object.keys(SCENARIOS);
  const command = new Command("compare")
    .description("measures all scenarios beside another system, over all members, and prints the ratios")
    .addOption(new Option("--peer <system>", "the other system").choices(peers).makeOptionMandatory())
    .addOption(new Option("--generator <program>", "what sends the requests").choices(["node", "go"]).default("node"))
    .option("--scenario <names>", "only these, separated by commas", parseNames)
    .option("--seconds <seconds>", "duration of a run", parseCount, 10)
    .option("--operations <count>", "or this many operations, if they come first", parseCount, 30_000)
    .option("--warm-up-seconds <seconds>", "before each run", parseCount, 2)
    .option("--markdown <file>", "write the table as Markdown")
    .option("--json <file>", "write all figures as JSON");
  return command.action(() => {
    const { peer, generator, scenario, seconds, operations, warmUpSeconds, markdown, json } = command.opts();
    onOptions({
      ...{ peer, generator },
      scenarios: scenariosOf(command, peer, generator, scenario),
      ...{ seconds, operations, warmUpSeconds, markdown: markdown ?? null, json: json ?? null },
    });
  });
}

function parseNames(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (new Set(names).size < names.length) {
    throw new InvalidArgumentError("It must name each scenario once.");
  }
  return names;
}

function scenariosOf(
  command: Command,
  peer: Peer,
  generator: Generator,
  asked: readonly string[] | undefined,
): readonly Scenario[] {
  const known = SCENARIOS[peer].filter((name) => generator === "node" || GO_SCENARIOS.includes(name));
  if (known.length === 0) {
    command.error(`error: option '--generator <program>' names '${generator}', which cannot ask ${peer} for anything.`);
  }
  return (asked ?? known).map((name) => {
    const found = scenarios.find((scenario) => scenario.name === name);
    if (found === undefined || !known.includes(name)) {
      const by = generator === "node" ? "" : ` with the generator '${generator}'`;
      command.error(
        `error: option '--scenario <names>' names '${name}'. Beside ${peer}${by} it may name: ${known.join(", ")}.`,
      );
    }
    return found as Scenario;
  });
}
