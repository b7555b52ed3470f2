/**
 * A member of several that is killed while it joins, while it starts with lost data, or while it heals. A program,
 * started by crash-damage.spec.ts.
 *
 *     node crash-joiner.ts <directory>…
 *
 * In each directory, one after the other, it joins if the directory is empty, and heals if it is damaged. It prints a
 * line at once for each step: `joined`, or `started` with its data, `healed`, `done`.
 */

import { writeSync } from "node:fs";
import { readProgress } from "../../src/state/index.ts";
import { JOINED_MEMBER, openJoined } from "../harness/index.ts";
import type { StartedMember } from "./started-member.ts";

function print(line: string): void {
  writeSync(process.stdout.fd, `${line}\n`);
}

for (const directory of process.argv.slice(2)) {
  const opened = await openJoined(directory);
  switch (opened.phase) {
    case "refused":
      throw new Error(opened.reason);
    case "empty": {
      const data = await opened.join(JOINED_MEMBER.clusterId, JOINED_MEMBER.memberId);
      print("joined");
      await data.close();
      break;
    }
    case "member": {
      const { identity, term, vote, damaged, boot, log, state, bounds } = opened.data;
      const started: StartedMember = {
        memberId: identity.memberId,
        term,
        vote,
        damaged,
        boot,
        bounds,
        applied: readProgress(state).appliedIndex,
      };
      print(`started ${JSON.stringify(started)}`);
      if (damaged) {
        await new Promise<void>((resolve) => log.clearDamage(resolve));
        print("healed");
      }
      await opened.data.close();
      break;
    }
  }
  print("done");
}
