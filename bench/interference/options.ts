/** The options of `npm run bench -- interference`. */

import { Command } from "commander";

export interface InterferenceOptions {
  /** How often a follower falls behind and catches up with a snapshot. */
  readonly rounds: number;
  /** How long puts are measured before each snapshot, and at least after it. */
  readonly seconds: number;
  readonly inFlight: number;
  /** Size of the measured values. */
  readonly valueBytes: number;
  /** The amount written in each round while the follower is stopped. */
  readonly missedMib: number;
  readonly warmUpSeconds: number;
  /** Files for the table as Markdown and for the figures as JSON; null = none. */
  readonly markdown: string | null;
  readonly json: string | null;
}

/** The command, which passes its options to `onOptions`. */
export function interferenceCommand(
  parseCount: (text: string) => number,
  onOptions: (options: InterferenceOptions) => void,
): Command {
  const command = new Command("interference")
    .description("measures puts while a follower receives a snapshot, and under compactions")
    .option("--rounds <count>", "snapshots to a follower that was stopped", parseCount, 3)
    .option("--seconds <seconds>", "duration of puts before each snapshot, and after it", parseCount, 20)
    .option("--in-flight <count>", "puts at once", parseCount, 16)
    .option("--value-bytes <bytes>", "size of each value that is measured", parseCount, 4_096)
    .option("--missed-mib <MiB>", "written while the follower is stopped, 192 at least", parseCount, 256)
    .option("--warm-up-seconds <seconds>", "before the first round", parseCount, 5)
    .option("--markdown <file>", "write the table as Markdown")
    .option("--json <file>", "write all figures as JSON");
  return command.action(() => {
    const { markdown, json, ...counts } = command.opts();
    const options = counts as Omit<InterferenceOptions, "markdown" | "json">;
    if (options.missedMib < MISSED_MIB_MIN) {
      command.error(
        `error: option '--missed-mib <MiB>' must be at least ${MISSED_MIB_MIN}: a smaller amount needs no snapshot.`,
      );
    }
    onOptions({ ...options, markdown: markdown ?? null, json: json ?? null });
  });
}

/** The log that a leader keeps with the flag of this benchmark, and the most by which the leader may be late. */
const MISSED_MIB_MIN = 192;
