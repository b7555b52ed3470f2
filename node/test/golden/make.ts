/**
 * Makes the golden files of a version, by the code of today:
 *
 *     npx node node/test/golden/make.ts --version 0.2.0 [--out node/test/golden]
 *
 * The log and what can be read are the same every time. In the data directory and in sealed objects there are random bytes.
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeBackups } from "./backup-objects.ts";
import { packDirectory } from "./directory-archive.ts";
import { writeLogFile } from "./log-file.ts";
import { recordedReads } from "./recorded-reads.ts";
import { runScript } from "./script.ts";
import { makeFrames, writeFrames } from "./snapshot-frames.ts";
import { replay } from "./state-at.ts";
import { makeStoppedMember } from "./stopped-member.ts";
import {
  BACKUP_DIRECTORY,
  DIRECTORY_FILE,
  FRAMES_FILE,
  LOG_FILE,
  requireNew,
  SUCCESSIONS_FILE,
  writeExpected,
} from "./versions.ts";

const { version, out } = parseArgs({
  options: { version: { type: "string" }, out: { type: "string", default: import.meta.dirname } },
}).values;

if (version === undefined || !/^[0-9]+\.[0-9]+\.[0-9]+$/.test(version)) {
  throw new Error("--version names the version whose files these are, as 0.1.0");
}
const directory = join(out, version);
requireNew(directory);
mkdirSync(directory, { recursive: true });

const { log, mark, end } = await runScript();
const entries = log.entries.slice(0, end);
const rows = entries.map(({ bytes }) => bytes);
writeLogFile(join(directory, LOG_FILE), entries);
writeLogFile(join(directory, SUCCESSIONS_FILE), log.entries.slice(end));
writeExpected(directory, {
  mark,
  atMark: recordedReads(replay(rows.slice(0, mark)).store),
  atEnd: recordedReads(replay(rows).store),
  afterSuccessions: recordedReads(log.store),
});
writeFrames(join(directory, FRAMES_FILE), makeFrames(entries, mark));
await makeBackups(join(directory, BACKUP_DIRECTORY), entries, mark, version);
const temporary = mkdtempSync(join(tmpdir(), "quoin-golden-"));
packDirectory(await makeStoppedMember(temporary, rows, mark), join(directory, DIRECTORY_FILE));
rmSync(temporary, { recursive: true });
process.stdout.write(`${directory}: ${entries.length} entries, ${mark} of them applied\n`);
