import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "./index.ts";
import { madeOnce } from "./user-cache.ts";

describe("a directory that is made once", () => {
  let parent: string;
  let directory: string;

  beforeEach(() => {
    parent = temporaryDirectory();
    directory = path.join(parent, "entry");
  });

  function making(content: string): (draft: string) => Promise<void> {
    return async (draft) => writeFileSync(path.join(draft, "file"), content);
  }

  it("is made the first time, and found afterwards", async () => {
    expect(await madeOnce(directory, making("first"))).to.equal(false);
    expect(await madeOnce(directory, making("second"))).to.equal(true);
    expect(readFileSync(path.join(directory, "file"), "utf8")).to.equal("first");
    expect(readdirSync(parent)).to.deep.equal(["entry"]);
  });

  it("leaves nothing if it cannot be made", async () => {
    const failed = await madeOnce(directory, async (draft) => {
      writeFileSync(path.join(draft, "file"), "half");
      throw new Error("no");
    }).catch((error: unknown) => error);
    expect((failed as Error).message).to.equal("no");
    expect(readdirSync(parent)).to.deep.equal([]);
  });

  it("is one of them if two make it at once", async () => {
    const both = await Promise.all([madeOnce(directory, making("one")), madeOnce(directory, making("other"))]);
    expect(both).to.deep.equal([false, false]);
    expect(readFileSync(path.join(directory, "file"), "utf8")).to.be.oneOf(["one", "other"]);
    expect(readdirSync(parent)).to.deep.equal(["entry"]);
  });

  it("removes what a killed process has left, and nothing of a living one", async () => {
    const { pid: gone } = spawnSync(process.execPath, ["--version"]);
    const drafts = [gone, process.pid].map((pid) => path.join(parent, `other.draft-${pid}-x`));
    for (const draft of drafts) {
      mkdirSync(draft);
    }
    await madeOnce(directory, making("first"));
    expect(drafts.map((draft) => existsSync(draft))).to.deep.equal([false, true]);
  });
});
