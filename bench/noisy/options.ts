/** The options of `npm run bench -- noisy`. */

import { Command } from "commander";

export interface NoisyOptions {
  /** Duration of each noise, and of the time without noise before it. */
  readonly seconds: number;
  /** The noises to make: those whose names match. */
  readonly only: RegExp | null;
  /** Files for the table as Markdown and for the figures as JSON; null = none. */
  readonly markdown: string | null;
  readonly json: string | null;
}

/** The command, which passes its options to `onOptions`. */
export function noisyCommand(
  parse: { readonly count: (text: string) => number; readonly pattern: (text: string) => RegExp },
  onOptions: (options: NoisyOptions) => void,
): Command {
  const command = new Command("noisy")
    .description(
      "measures what a quiet tenant notices of another one that does its worst, and of clients without a token",
    )
    .option("--seconds <seconds>", "duration of each noise", parse.count, 10)
    .option("--only <pattern>", "make only noises whose names match this regular expression", parse.pattern)
    .option("--markdown <file>", "write the table as Markdown")
    .option("--json <file>", "write all figures as JSON");
  return command.action(() => {
    const { seconds, only, markdown, json } = command.opts();
    onOptions({ seconds, only: only ?? null, markdown: markdown ?? null, json: json ?? null });
  });
}
