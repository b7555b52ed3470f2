/**
 * Founds a cluster from a backup, until it is killed. A program, started by crash-restore.spec.ts.
 *
 *     node crash-restorer.ts <directory> <directory of the backup>
 *
 * It prints a line at once for each step: `decided` when the data of the new cluster is complete, `done`.
 */

import { writeSync } from "node:fs";
import { openOrRestore } from "./restored-member.ts";

const [directory = "", store = ""] = process.argv.slice(2);

function print(line: string): void {
  writeSync(process.stdout.fd, `${line}\n`);
}

const data = await openOrRestore(directory, store, () => print("decided"));
print("done");
await data.close();
