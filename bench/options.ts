/** The options of the benchmark. */

import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { type ChartOptions, chartCommand } from "./chart/index.ts";
import { type CompareOptions, compareCommand } from "./compare/index.ts";
import { type InterferenceOptions, interferenceCommand } from "./interference/index.ts";
import type { Target } from "./measuring/index.ts";
import { type MicroOptions, microCommand } from "./micro/index.ts";
import { type NoisyOptions, noisyCommand } from "./noisy/index.ts";
import { type ScaleOptions, scaleCommand } from "./scale/index.ts";
import { type Scenario, scenarios } from "./scenarios/index.ts";
import { type SdksOptions, sdksCommand } from "./sdks/index.ts";
import { type SessionsOptions, sessionsCommand } from "./sessions/index.ts";
import { type SoakOptions, soakCommand } from "./soak/index.ts";
import { type TimelineOptions, timelineCommand } from "./timeline/index.ts";

export interface BenchOptions {
  readonly scenario: Scenario;
  readonly members: number;
  /** The system to measure beside Quoin; null = none. `quoin` = another cluster of Quoin. */
  readonly beside: "etcd" | "quoin" | null;
  /** Flags of the members of the other cluster of Quoin. */
  readonly besideFlags: readonly string[];
  /** Checkout of the other cluster of Quoin; null = this one. */
  readonly besideCheckout: string | null;
  readonly target: Target;
  /** The values of the scenario's concurrency, each measured separately. */
  readonly concurrency: readonly number[];
  /** 0 if the scenario has no values of a chosen size. */
  readonly valueBytes: number;
  /** A run ends with the first of these. */
  readonly seconds: number;
  readonly operations: number;
  readonly warmUpSeconds: number;
  /** File for the raw figures, one JSON object per line; null = none. */
  readonly output: string | null;
}

/** The arguments are wrong; the message names the argument and the reason. */
export class UsageError extends Error {}

const MEMBERS = ["1", "3", "5"];
const VALUE_BYTES_MAX = 1024 * 1024;

/**
 * The measurement: whole clusters, clusters beside another system or under other work, single steps of a member, or the
 * steps of a put. Or a picture of an earlier one.
 */
export type ParsedCommand =
  | { readonly kind: "clusters"; readonly options: BenchOptions }
  | { readonly kind: "chart"; readonly options: ChartOptions }
  | { readonly kind: "compare"; readonly options: CompareOptions }
  | { readonly kind: "interference"; readonly options: InterferenceOptions }
  | { readonly kind: "micro"; readonly options: MicroOptions }
  | { readonly kind: "noisy"; readonly options: NoisyOptions }
  | { readonly kind: "scale"; readonly options: ScaleOptions }
  | { readonly kind: "sdks"; readonly options: SdksOptions }
  | { readonly kind: "sessions"; readonly options: SessionsOptions }
  | { readonly kind: "soak"; readonly options: SoakOptions }
  | { readonly kind: "timeline"; readonly options: TimelineOptions };

/** Parses the arguments. Returns null for --help. Raises UsageError. */
export function parseOptions(args: readonly string[]): ParsedCommand | null {
  let asked: ParsedCommand | null = null;
  const program = new Command("npm run bench --").description("Measures a cluster on this machine").exitOverride();
  program.configureOutput({ writeErr: () => undefined });
  for (const scenario of scenarios) {
    const command = commandOf(scenario);
    command.action(() => {
      asked = { kind: "clusters", options: optionsOf(scenario, command) };
    });
    // Prints errors where the main program prints them.
    program.addCommand(command.copyInheritedSettings(program));
  }
  const micro = microCommand({ count: parseCount, pattern: parsePattern }, (options) => {
    asked = { kind: "micro", options };
  });
  program.addCommand(micro.copyInheritedSettings(program));
  const compare = compareCommand(parseCount, (options) => {
    asked = { kind: "compare", options };
  });
  program.addCommand(compare.copyInheritedSettings(program));
  const chart = chartCommand((options) => {
    asked = { kind: "chart", options };
  });
  program.addCommand(chart.copyInheritedSettings(program));
  const interference = interferenceCommand(parseCount, (options) => {
    asked = { kind: "interference", options };
  });
  program.addCommand(interference.copyInheritedSettings(program));
  const noisy = noisyCommand({ count: parseCount, pattern: parsePattern }, (options) => {
    asked = { kind: "noisy", options };
  });
  program.addCommand(noisy.copyInheritedSettings(program));
  const scale = scaleCommand(parseCount, (options) => {
    asked = { kind: "scale", options };
  });
  program.addCommand(scale.copyInheritedSettings(program));
  const sdks = sdksCommand(parseCount, (options) => {
    asked = { kind: "sdks", options };
  });
  program.addCommand(sdks.copyInheritedSettings(program));
  const sessions = sessionsCommand(parseCount, (options) => {
    asked = { kind: "sessions", options };
  });
  program.addCommand(sessions.copyInheritedSettings(program));
  const soak = soakCommand(parseCount, (options) => {
    asked = { kind: "soak", options };
  });
  program.addCommand(soak.copyInheritedSettings(program));
  const timeline = timelineCommand(parseCount, (options) => {
    asked = { kind: "timeline", options };
  });
  program.addCommand(timeline.copyInheritedSettings(program));
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      throw error;
    }
    if (error.exitCode !== 0) {
      throw new UsageError(error.message.replace(/^error: /, ""), { cause: error });
    }
  }
  return asked;
}

function commandOf({ name, description, concurrency, valueBytesDefault, isComparable }: Scenario): Command {
  const command = new Command(name)
    .description(description)
    .addOption(new Option("--members <count>", "members of each cluster").choices(MEMBERS).default("3"));
  const besideText = "measure this as well, in turns, and print the ratios";
  command
    .addOption(new Option("--beside <system>", besideText).choices(isComparable ? ["etcd", "quoin"] : ["quoin"]))
    .option("--beside-flags <flags>", "with --beside quoin: flags of its members, separated by spaces", parseFlags)
    .option("--beside-checkout <folder>", "with --beside quoin: run the sources in this folder")
    .addOption(
      new Option("--target <members>", "members that get the requests").choices(["leader", "any"]).default("leader"),
    )
    .option(`${concurrency.flag} <counts>`, concurrency.description, parseCounts, concurrency.counts);
  if (valueBytesDefault !== null) {
    command.option("--value-bytes <bytes>", "size of each value", parseValueBytes, valueBytesDefault);
  }
  return command
    .option("--seconds <seconds>", "duration of a run", parseCount, 10)
    .option("--operations <count>", "or this many operations, if they come first", parseCount, 30_000)
    .option("--warm-up-seconds <seconds>", "before each run", parseCount, 2)
    .option("--output <file>", "append the raw figures, one JSON object per line");
}

function optionsOf(scenario: Scenario, command: Command): BenchOptions {
  const { members, beside, target, valueBytes, seconds, operations, warmUpSeconds, output } = command.opts();
  const { besideFlags, besideCheckout } = command.opts();
  if (beside !== "quoin" && (besideFlags !== undefined || besideCheckout !== undefined)) {
    command.error("error: options '--beside-flags <flags>' and '--beside-checkout <folder>' need '--beside quoin'.");
  }
  const concurrency = command.options.find(({ long }) => long === scenario.concurrency.flag)?.attributeName() ?? "";
  return {
    scenario,
    members: Number(members),
    beside: beside ?? null,
    target,
    besideFlags: besideFlags ?? [],
    besideCheckout: besideCheckout ?? null,
    concurrency: command.getOptionValue(concurrency),
    valueBytes: valueBytes ?? 0,
    seconds,
    operations,
    warmUpSeconds,
    output: output ?? null,
  };
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^[0-9]+$/.test(text) || count < 1) {
    throw new InvalidArgumentError("It must be a whole number, at least 1.");
  }
  return count;
}

function parseFlags(text: string): readonly string[] {
  return text.split(/\s+/).filter((flag) => flag !== "");
}

function parsePattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch {
    throw new InvalidArgumentError("It must be a regular expression.");
  }
}

function parseCounts(text: string): number[] {
  return text.split(",").map((part) => parseCount(part.trim()));
}

function parseValueBytes(text: string): number {
  const bytes = parseCount(text);
  if (bytes > VALUE_BYTES_MAX) {
    throw new InvalidArgumentError(`It must be at most ${VALUE_BYTES_MAX}.`);
  }
  return bytes;
}
