import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { usageOf } from "./usage.ts";

describe("usage", () => {
  it("counts the bytes of all files below the directory, and what the file system has left", () => {
    const directory = temporaryDirectory();
    expect(usageOf(directory).usedBytes).to.equal(0);
    mkdirSync(join(directory, "a", "b"), { recursive: true });
    writeFileSync(join(directory, "one"), Buffer.alloc(1000));
    writeFileSync(join(directory, "a", "b", "two"), Buffer.alloc(234));
    const { usedBytes, freeBytes } = usageOf(directory);
    expect(usedBytes).to.equal(1234);
    expect(Number.isSafeInteger(freeBytes)).to.equal(true);
    expect(freeBytes).to.be.greaterThan(0);
  });

  it("does not count the reserve, which is room put aside", () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "one"), Buffer.alloc(1000));
    writeFileSync(join(directory, "reserve"), Buffer.alloc(5000));
    expect(usageOf(directory).usedBytes).to.equal(1000);
  });

  it("takes a directory that vanishes meanwhile for empty", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "one"), Buffer.alloc(1000));
    const program =
      'const { mkdirSync, rmSync } = require("node:fs"); const { workerData } = require("node:worker_threads");' +
      "for (;;) { mkdirSync(workerData + '/state-2/inner', { recursive: true });" +
      "rmSync(workerData + '/state-2', { recursive: true }); }";
    const worker = new Worker(program, { eval: true, workerData: directory });
    try {
      await once(worker, "online");
      for (let round = 0; round < 5_000; round++) {
        expect(usageOf(directory).usedBytes).to.equal(1000);
      }
    } finally {
      await worker.terminate();
    }
  });

  it("raises what goes wrong: the directory is not there", () => {
    expect(() => usageOf(join(temporaryDirectory(), "absent"))).to.throw("ENOENT");
  });
});
