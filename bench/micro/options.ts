/** The options of `npm run bench -- micro`. */

import { Command } from "commander";

export interface MicroOptions {
  /** Only cases with matching names are measured; null = all. */
  readonly pattern: RegExp | null;
  /** Milliseconds of processor time for each case. */
  readonly measuredMs: number;
  /** File for the figures as JSON; null = none. */
  readonly output: string | null;
  /** Figures of an earlier run to compare with; null = none. */
  readonly against: string | null;
}

/** The command, which passes its options to `onOptions`. */
export function microCommand(
  parse: { readonly count: (text: string) => number; readonly pattern: (text: string) => RegExp },
  onOptions: (options: MicroOptions) => void,
): Command {
  const command = new Command("micro")
    .description("measures single steps of a member: microseconds of processor and bytes allocated")
    .option("--grep <pattern>", "only cases whose name matches this regular expression", parse.pattern)
    .option("--milliseconds <count>", "of processor for each case", parse.count, 300)
    .option("--output <file>", "write the figures as JSON")
    .option("--against <file>", "compare with the figures of an earlier run");
  return command.action(() => {
    const { grep, milliseconds, output, against } = command.opts();
    onOptions({ pattern: grep ?? null, measuredMs: milliseconds, output: output ?? null, against: against ?? null });
  });
}
