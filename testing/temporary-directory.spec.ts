import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { removeTemporaryDirectories, temporaryDirectory } from "./temporary-directory.ts";

const FILES = 300;
const ROUNDS = 10;
/** Makes two directories, one of them with a file, and prints where they are. */
const MAKER = `
  import { mkdirSync, writeFileSync } from "node:fs";
  import { temporaryDirectory } from "${new URL("temporary-directory.ts", import.meta.url)}";
  const [one, other] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(one + "/deep/er", { recursive: true });
  writeFileSync(one + "/deep/er/file", "x");
  process.stdout.write(one + "\\n" + other + "\\n");
`;
/** Deletes the files from the last to the first, while this thread removes them all. */
const DELETER = `
  const { workerData } = require("node:worker_threads");
  const { unlinkSync } = require("node:fs");
  const begun = new Int32Array(workerData.begun);
  Atomics.store(begun, 0, 1);
  Atomics.notify(begun, 0);
  for (let file = workerData.files - 1; file >= 0; file--) {
    try { unlinkSync(workerData.directory + "/" + file); } catch {}
  }
`;

describe("temporary directories", () => {
  it("are empty and apart from each other, and go with what is in them when their process ends", () => {
    const made = spawnSync(process.execPath, ["--input-type=module", "-e", MAKER], { encoding: "utf8" });
    const [one = "", other = "", ...more] = made.stdout.trimEnd().split("\n");
    expect([made.status, made.stderr, more]).to.deep.equal([0, "", []]);
    expect(one).to.contain("quoin-test-").and.not.to.equal(other);
    expect([existsSync(one), existsSync(other)]).to.deep.equal([false, false]);
  });

  it("go while others remove files in them", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const directory = temporaryDirectory();
      for (let file = 0; file < FILES; file++) {
        writeFileSync(join(directory, String(file)), "x");
      }
      const begun = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
      const deleter = new Worker(DELETER, { eval: true, workerData: { directory, files: FILES, begun } });
      const ended = once(deleter, "exit");
      await Atomics.waitAsync(new Int32Array(begun), 0, 0).value;
      removeTemporaryDirectories();
      const isThere = existsSync(directory);
      await ended;
      expect(isThere).to.equal(false);
    }
  });
});
