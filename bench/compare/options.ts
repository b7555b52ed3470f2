/** What `npm run bench -- compare` is asked for. */

import { Command, InvalidArgumentError, Option } from "commander";
import type { Peer } from "../clusters/index.ts";
import { type Scenario, scenarios } from "../scenarios/index.ts";

export interface CompareOptions {
  readonly peer: Peer;
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
    .option("--scenario <names>", "only these, separated by commas", parseNames)
    .option("--seconds <seconds>", "duration of a run", parseCount, 10)
    .option("--operations <count>", "or this many operations, if they come first", parseCount, 30_000)
    .option("--warm-up-seconds <seconds>", "before each run", parseCount, 2)
    .option("--markdown <file>", "write the table as Markdown")
    .option("--json <file>", "write all figures as JSON");
  return command.action(() => {
    const { peer, scenario, seconds, operations, warmUpSeconds, markdown, json } = command.opts();
    onOptions({
      peer,
      scenarios: scenariosOf(command, peer, scenario),
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

function scenariosOf(command: Command, peer: Peer, names: readonly string[] = SCENARIOS[peer]): readonly Scenario[] {
  return names.map((name) => {
    const found = scenarios.find((scenario) => scenario.name === name);
    if (found === undefined || !SCENARIOS[peer].includes(name)) {
      const known = SCENARIOS[peer].join(", ");
      command.error(`error: option '--scenario <names>' names '${name}'. Beside ${peer} it may name: ${known}.`);
    }
    return found as Scenario;
  });
}
