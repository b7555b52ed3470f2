/**
 * Recovers the data of stopped members, one after the other, until it is killed. A program, started by
 * crash-recovery.spec.ts.
 *
 *     node crash-recoverer.ts <new cluster id> <directory>…
 *
 * It prints a line at once for each step: `decided` when the data of the new cluster is complete, `done`.
 */

import { writeSync } from "node:fs";
import { placeSuccessor, StoppedMember, stageRecovery, unfinishedSuccession } from "../../src/storage/index.ts";

const [clusterId = "", ...directories] = process.argv.slice(2);

function print(line: string): void {
  writeSync(process.stdout.fd, `${line}\n`);
}

for (const directory of directories) {
  if (unfinishedSuccession(directory) === null) {
    const member = await StoppedMember.open(directory, { acceptRetired: false });
    await stageRecovery(member, {
      cause: "recovery",
      clusterId,
      revisionJump: 1_000_000,
      signingKey: null,
      pageTokenKey: new Uint8Array(32),
      wallMs: 1_760_000_000_000,
      owner: null,
    });
    print("decided");
    await member.close();
  }
  placeSuccessor(directory);
  print("done");
}
