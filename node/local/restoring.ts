/** A cluster on this machine that begins with a backup: what it needs, how far it is, and what was done. */

import { readFileSync } from "node:fs";
import { Refused, requireUnused } from "../src/storage/index.ts";
import type { Observed } from "./assembly.ts";
import type { MemberLayout } from "./member-layout.ts";
import { StartError } from "./start-error.ts";

/** A field of the line that a member logs when it has founded its cluster from a backup. */
const RESTORED = '"restore":["';

export class Restoring {
  readonly #directory: string;
  readonly #layouts: readonly MemberLayout[];
  #told = "";

  constructor(directory: string, layouts: readonly MemberLayout[]) {
    this.#directory = directory;
    this.#layouts = layouts;
  }

  /** Raises StartError if one of the members has data: a restore replaces none. */
  async requireRoom(): Promise<void> {
    for (const { dataDirectory } of this.#layouts) {
      try {
        await requireUnused(dataDirectory);
      } catch (error) {
        if (error instanceof Refused) {
          throw new StartError(
            `${error.message}, as --data-dir; or move ${this.#directory} away; or leave --restore out to start the cluster that is there`,
            { cause: error },
          );
        }
        throw error;
      }
    }
  }

  /** Whether no member has data yet; tells how far the restore is. */
  isUnderWay(observed: readonly Observed[]): boolean {
    const [founder] = observed;
    if (founder === undefined || observed.some(({ status }) => status.state !== "EMPTY")) {
      return false;
    }
    const told = founder.status.alarms.join("; ");
    if (told !== "" && told !== this.#told) {
      this.#told = told;
      console.log(told);
    }
    return true;
  }

  /** Prints what the founder has logged about it. */
  report(): void {
    const [founder] = this.#layouts;
    const lines = founder === undefined ? [] : readFileSync(founder.logFile, "utf8").trimEnd().split("\n");
    const line = lines.findLast((text) => text.includes(RESTORED));
    if (line !== undefined) {
      const { restore } = JSON.parse(line) as { readonly restore: readonly string[] };
      console.log(`\n${restore.join("\n")}`);
    }
  }
}
