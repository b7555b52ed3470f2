/** The options of `npm run bench -- soak`. */

import { Command } from "commander";

export interface SoakOptions {
  readonly seconds: number;
  /** From one event, such as a killed member, to the next one. */
  readonly eventSeconds: number;
  readonly sampleSeconds: number;
  /** Files for samples as JSON lines, for the summary as Markdown, and for the picture; null = none. */
  readonly output: string | null;
  readonly markdown: string | null;
  readonly svg: string | null;
}

const SECONDS_PER_MINUTE = 60;
const SAMPLE_SECONDS = 10;

/** The command, which passes its options to `onOptions`. */
export function soakCommand(parseCount: (text: string) => number, onOptions: (options: SoakOptions) => void): Command {
  const command = new Command("soak")
    .description("observes members for a long time, under a load of all kinds, while members end and return")
    .option("--minutes <minutes>", "duration of the load", parseCount, 60)
    .option("--event-seconds <seconds>", "from one event, such as a killed member, to the next one", parseCount, 120)
    .option("--output <file>", "append the samples and the summary, one JSON object per line")
    .option("--markdown <file>", "write the summary as Markdown")
    .option("--svg <file>", "draw memory and times");
  return command.action(() => {
    const { minutes, eventSeconds, output, markdown, svg } = command.opts();
    onOptions({
      seconds: minutes * SECONDS_PER_MINUTE,
      eventSeconds,
      sampleSeconds: SAMPLE_SECONDS,
      output: output ?? null,
      markdown: markdown ?? null,
      svg: svg ?? null,
    });
  });
}
