import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { TemporaryDirectories } from "./temporary-directories.ts";

const FILES = 300;
const ROUNDS = 10;
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

describe("TemporaryDirectories", () => {
  it("makes empty directories apart from each other, and removes all of them with what is in them", () => {
    const directories = new TemporaryDirectories();
    const [one, other] = [directories.make(), directories.make()];
    expect(one).not.to.equal(other);
    mkdirSync(join(one, "deep", "er"), { recursive: true });
    writeFileSync(join(one, "deep", "er", "file"), "x");
    directories.removeAll();
    expect([existsSync(one), existsSync(other)]).to.deep.equal([false, false]);
  });

  it("removes a directory in which others remove files at the same time", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const directories = new TemporaryDirectories();
      const directory = directories.make();
      for (let file = 0; file < FILES; file++) {
        writeFileSync(join(directory, String(file)), "x");
      }
      const begun = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
      const deleter = new Worker(DELETER, { eval: true, workerData: { directory, files: FILES, begun } });
      const ended = once(deleter, "exit");
      await Atomics.waitAsync(new Int32Array(begun), 0, 0).value;
      directories.removeAll();
      const isThere = existsSync(directory);
      await ended;
      expect(isThere).to.equal(false);
    }
  });
});
