/** Counts elections by the logs of the members. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Number of terms that had a leader, by the logs in a directory. */
export function countElections(logs: string): number {
  const terms = new Set<number>();
  for (const name of readdirSync(logs).filter((file) => file.endsWith(".log"))) {
    for (const line of readFileSync(join(logs, name), "utf8").split("\n")) {
      const [, term] = /"role":"leader","term":([0-9]+),.*"msg":"role changed"/.exec(line) ?? [];
      if (term !== undefined) {
        terms.add(Number(term));
      }
    }
  }
  return terms.size;
}
