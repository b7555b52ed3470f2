/**
 * A member that installs a snapshot until it is killed. A program, started by crash-install.spec.ts.
 *
 *     node crash-installer.ts <directory>…
 *
 * In each directory, one after the other, it goes through the steps of an install as the driver does: rows, finish,
 * place, a new log behind the snapshot, switch. It prints a line at once for each step: `opened` with the progress of
 * the state, `placed`, `switched`, `deleted`, `done`.
 */

import { readdirSync, writeSync } from "node:fs";
import { readProgress } from "../../src/state/index.ts";
import { type MemberData, openDataDirectory, type StateReplacement } from "../../src/storage/index.ts";
import { until } from "../harness/index.ts";
import { stateAfter } from "./installed-snapshot.ts";

const ROWS_PER_PIECE = 10;

function print(line: string): void {
  writeSync(process.stdout.fd, `${line}\n`);
}

async function install(directory: string, { log, state, term, vote, writeSeq }: MemberData): Promise<void> {
  const snapshot = stateAfter();
  const replacement = await new Promise<StateReplacement>((resolve) => state.beginReplacement(resolve));
  for (let at = 0; at < snapshot.rows.length; at += ROWS_PER_PIECE) {
    const piece = snapshot.rows.slice(at, at + ROWS_PER_PIECE);
    await new Promise<void>((resolve) => replacement.write(piece, resolve));
  }
  await new Promise<void>((resolve) => replacement.finish(snapshot.index, snapshot.term, resolve));
  await new Promise<void>((resolve) => replacement.place(resolve));
  print("placed");
  const resetTo = { index: snapshot.index, term: snapshot.term };
  await new Promise<void>((resolve) => {
    const behind = { commit: snapshot.index, from: snapshot.index + 1, rows: [], resetTo };
    log.write({ writeSeq: writeSeq + 1, term, vote, ...behind }, () => resolve());
  });
  state.switchTo(replacement);
  print("switched");
  await until("the former state is deleted", () => {
    return readdirSync(directory).filter((name) => name.startsWith("state-")).length === 1;
  });
  print("deleted");
}

for (const directory of process.argv.slice(2)) {
  const opened = await openDataDirectory({
    directory,
    clusterName: "spec",
    name: "q-0",
    acceptMissingFence: false,
    onFatal: (error) => {
      print(`fatal ${error.message}`);
      process.exit(71);
    },
  });
  if (opened.phase !== "member") {
    throw new Error(`the directory is ${opened.phase}`);
  }
  const { appliedIndex } = readProgress(opened.data.state);
  print(`opened ${appliedIndex}`);
  if (appliedIndex < stateAfter().index) {
    await install(directory, opened.data);
  }
  await opened.data.close();
  print("done");
}
