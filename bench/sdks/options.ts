/** The options of `npm run bench -- sdks`. */

import { Command, Option } from "commander";

export const LANGUAGES = ["go", "python"] as const;
export type Language = (typeof LANGUAGES)[number];

export interface SdksOptions {
  readonly language: Language;
  /** Duration of a run, after its warm-up. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Watches of one client. */
  readonly watches: number;
  /** Files for the table as Markdown and for the figures as JSON; null = none. */
  readonly markdown: string | null;
  readonly json: string | null;
}

/** The command, which passes its options to `onOptions`. */
export function sdksCommand(parseCount: (text: string) => number, onOptions: (options: SdksOptions) => void): Command {
  const command = new Command("sdks")
    .description(
      "measures what a client costs: an SDK, beside bare calls of gRPC and, in Go, beside the client of etcd",
    )
    .addOption(new Option("--language <language>", "the language of the SDK").choices(LANGUAGES).default("go"))
    .option("--seconds <seconds>", "duration of each run", parseCount, 8)
    .option("--warm-up-seconds <seconds>", "before each run", parseCount, 3)
    .option("--watches <count>", "watches of one client", parseCount, 10_000)
    .option("--markdown <file>", "write the table as Markdown")
    .option("--json <file>", "write all figures as JSON");
  return command.action(() => {
    const { markdown, json, ...others } = command.opts();
    onOptions({
      ...(others as Omit<SdksOptions, "markdown" | "json">),
      markdown: markdown ?? null,
      json: json ?? null,
    });
  });
}
