/**
 * The files of a directory as one compressed file: JSON with the contents of each in base64. Data directories hold files
 * that git ignores by their names, and many that are nearly empty.
 */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

/** Logs of RocksDB for people, locks, and what a copy of an open store has of them: no data. */
const NO_DATA = /(?:^|\/)(?:LOCK|LOG(?:\.old\..*)?)$/;

export function packDirectory(directory: string, archive: string): void {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(directory, name)).isFile() && !NO_DATA.test(name));
  const contents = Object.fromEntries(files.map((name) => [name, readFileSync(join(directory, name), "base64")]));
  writeFileSync(archive, gzipSync(JSON.stringify(contents), { level: 9 }));
}

/** Writes the files of the archive into the directory. */
export function unpackDirectory(archive: string, directory: string): void {
  const contents = JSON.parse(gunzipSync(readFileSync(archive)).toString()) as Record<string, string>;
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content, "base64");
  }
}
