/** The restore of a local cluster from a backup: its requirements, progress and result. */

import { readFileSync } from "node:fs";
import type { MemberStatus } from "@quoin/client";
import { Refused, requireUnused } from "../src/storage/index.ts";
import type { MemberLayout } from "./member-layout.ts";
import { StartError } from "./start-error.ts";

/** A field of the line that a member logs when it has founded its cluster from a backup. */
const RESTORED = '"restore":["';

export class RestoreProgress {
  readonly #directory: string;
  readonly #layouts: readonly MemberLayout[];
  #reported = "";

  constructor(directory: string, layouts: readonly MemberLayout[]) {
    this.#directory = directory;
    this.#layouts = layouts;
  }

  /** Raises StartError if one of the members has data: a restore never replaces data. */
  async requireFreeSpace(): Promise<void> {
    for (const { dataDirectory } of this.#layouts) {
      try {
        await requireUnused(dataDirectory);
      } catch (error) {
        if (error instanceof Refused) {
          throw new StartError(
            `${error.message}, as --data-dir; or move ${this.#directory} away; or omit --restore to start the existing cluster`,
            { cause: error },
          );
        }
        throw error;
      }
    }
  }

  /** Whether no member has data yet; prints the progress of the restore. */
  isUnderWay(observed: readonly { readonly status: MemberStatus }[]): boolean {
    const [founder] = observed;
    if (founder === undefined || observed.some(({ status }) => status.state !== "EMPTY")) {
      return false;
    }
    const told = founder.status.alarms.join("; ");
    if (told !== "" && told !== this.#reported) {
      this.#reported = told;
      console.log(told);
    }
    return true;
  }

  /** Prints the founder's log lines about the restore. */
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
