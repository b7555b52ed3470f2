/** The options of `npm run bench -- chart`. */

import { Command, Option } from "commander";
import { MEASURES, type MeasureName } from "./figures.ts";

export interface ChartOptions {
  /** File that `compare --json` has written. */
  readonly figures: string;
  readonly measure: MeasureName;
  /** File for the picture; null = standard output. */
  readonly svg: string | null;
}

/** The command, which passes its options to `onOptions`. */
export function chartCommand(onOptions: (options: ChartOptions) => void): Command {
  const names = Object.keys(MEASURES);
  const command = new Command("chart")
    .description("draws the figures of a comparison as a bar chart")
    .argument("<file>", "figures that `compare --json` has written")
    .addOption(new Option("--measure <name>", "figure to draw").choices(names).default("per-second"))
    .option("--svg <file>", "write the picture there instead of the standard output");
  return command.action((figures: string) => {
    const { measure, svg } = command.opts();
    onOptions({ figures, measure, svg: svg ?? null });
  });
}
