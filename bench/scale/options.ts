/** The options of `npm run bench -- scale`. */

import { Command } from "commander";

export interface ScaleOptions {
  readonly keys: number;
  readonly valueBytes: number;
  /** Transactions at a time while the keys are written. */
  readonly inFlight: number;
  /** The most space on the disk that the members and their backups may take together. */
  readonly diskGib: number;
  /** How long the members are left alone, and then measured, for each figure at rest. */
  readonly restSeconds: number;
  /** How many of each kind there are at rest. */
  readonly burdens: BurdenCounts;
  /** Files for the tables as Markdown and for the figures as JSON; null = none. */
  readonly markdown: string | null;
  readonly json: string | null;
}

export interface BurdenCounts {
  readonly locks: number;
  readonly sessions: number;
  readonly watches: number;
  readonly logs: number;
}

const REST_SECONDS = 15;
const BURDENS: BurdenCounts = { locks: 10_000, sessions: 20_000, watches: 10_000, logs: 1_000 };
/** So that a transaction of them fits into a message. */
const VALUE_BYTES_MAX = 32 * 1_024;

/** The command, which passes its options to `onOptions`. */
export function scaleCommand(
  parseCount: (text: string) => number,
  onOptions: (options: ScaleOptions) => void,
): Command {
  const command = new Command("scale")
    .description("measures members with many keys, and what locks, sessions, watches and logs cost at rest")
    .option("--keys <count>", "keys to write", parseCount, 10_000_000)
    .option("--value-bytes <bytes>", "size of each value, random bytes", parseCount, 100)
    .option("--in-flight <count>", "transactions at a time, each of 100 puts", parseCount, 16)
    .option("--disk-gib <GiB>", "stop before all members together take more space", parseCount, 60)
    .option("--markdown <file>", "write the tables as Markdown")
    .option("--json <file>", "write all figures as JSON");
  return command.action(() => {
    const { keys, valueBytes, inFlight, diskGib, markdown, json } = command.opts();
    if (valueBytes > VALUE_BYTES_MAX) {
      command.error(`error: option '--value-bytes <bytes>' must be at most ${VALUE_BYTES_MAX}.`);
    }
    onOptions({
      keys,
      valueBytes,
      inFlight,
      diskGib,
      restSeconds: REST_SECONDS,
      burdens: BURDENS,
      markdown: markdown ?? null,
      json: json ?? null,
    });
  });
}
