/** The options of `npm run bench -- timeline`. */

import { Command } from "commander";

export interface TimelineOptions {
  /** Number of puts with traces, and of puts without. */
  readonly operations: number;
  readonly warmUpSeconds: number;
  /** Files for the tables as Markdown and for the figures as JSON; null = none. */
  readonly markdown: string | null;
  readonly json: string | null;
}

/** The command, which passes its options to `onOptions`. */
export function timelineCommand(
  parseCount: (text: string) => number,
  onOptions: (options: TimelineOptions) => void,
): Command {
  const command = new Command("timeline")
    .description("measures the steps of a single put, one at a time over three members")
    .option("--operations <count>", "puts to measure", parseCount, 500)
    .option("--warm-up-seconds <seconds>", "for each cluster", parseCount, 3)
    .option("--markdown <file>", "write the tables as Markdown")
    .option("--json <file>", "write all figures as JSON");
  return command.action(() => {
    const { operations, warmUpSeconds, markdown, json } = command.opts();
    onOptions({ operations, warmUpSeconds, markdown: markdown ?? null, json: json ?? null });
  });
}
