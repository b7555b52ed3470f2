/** The options of `npm run bench -- compare`. */

import { Command, InvalidArgumentError, Option } from "commander";
import type { Peer } from "../clusters/index.ts";
import { GO_SCENARIOS, type Scenario, scenarios } from "../scenarios/index.ts";

/** The sender of the requests: this process, or the program in Go. */
export type Generator = "node" | "go";

export interface CompareOptions {
  readonly peer: Peer;
  readonly generator: Generator;
  /** In the order of their measurement. */
  readonly scenarios: readonly Scenario[];
  /** A run ends with the first of these. */
  readonly seconds: number;
  readonly operations: number;
  readonly warmUpSeconds: number;
  /** Files for the table as Markdown and for the figures as JSON; null = none. */
  readonly markdown: string | null;
  readonly json: string | null;
}

/** The scenarios that each peer supports as well. */
const SCENARIOS: Readonly<Record<Peer, readonly string[]>> = {
  etcd: [...["put", "get", "lock", "handover", "watch", "cas"], ...["transact", "increment", "session", "keep-alive"]],
  nats: ["append-keyed", "append-http", "append-batch"],
};

/** The command, which passes its options to `onOptions`. */
export function compareCommand(
  parseCount: (text: string) => number,
  onOptions: (options: CompareOptions) => void,
): Command {
  const peers = Object.keys(SCENARIOS);
  const command = new Command("compare")
    .description("measures all scenarios beside another system, over all members, and prints the ratios")
    .addOption(new Option("--peer <system>", "the other system").choices(peers).makeOptionMandatory())
    .addOption(new Option("--generator <program>", "sender of the requests").choices(["node", "go"]).default("node"))
    .option("--scenario <names>", "only these, separated by commas", parseNames)
    .option("--seconds <seconds>", "duration of a run", parseCount, 10)
    .option("--operations <count>", "or this many operations, if they come first", parseCount, 30_000)
    .option("--warm-up-seconds <seconds>", "before each run", parseCount, 2)
    .option("--markdown <file>", "write the table as Markdown")
    .option("--json <file>", "write all figures as JSON");
  return command.action(() => {
    const { peer, generator, scenario, seconds, operations, warmUpSeconds, markdown, json } = command.opts();
    onOptions({
      peer,
      generator,
      scenarios: scenariosOf(command, peer, generator, scenario),
      seconds,
      operations,
      warmUpSeconds,
      markdown: markdown ?? null,
      json: json ?? null,
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
    command.error(`error: option '--generator <program>' names '${generator}', which cannot send requests to ${peer}.`);
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
