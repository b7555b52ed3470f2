import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { TemporaryDirectories } from "../../test/harness/index.ts";
import { usageOf } from "./usage.ts";

describe("usage", () => {
  const directories = new TemporaryDirectories();
  afterEach(() => directories.removeAll());

  it("counts the bytes of all files below the directory, and what the file system has left", () => {
    const directory = directories.make();
    expect(usageOf(directory).usedBytes).to.equal(0);
    mkdirSync(join(directory, "a", "b"), { recursive: true });
    writeFileSync(join(directory, "one"), Buffer.alloc(1000));
    writeFileSync(join(directory, "a", "b", "two"), Buffer.alloc(234));
    const { usedBytes, freeBytes } = usageOf(directory);
    expect(usedBytes).to.equal(1234);
    expect(Number.isSafeInteger(freeBytes)).to.equal(true);
    expect(freeBytes).to.be.greaterThan(0);
  });

  it("raises what goes wrong: the directory is not there", () => {
    expect(() => usageOf(join(directories.make(), "absent"))).to.throw("ENOENT");
  });
});
