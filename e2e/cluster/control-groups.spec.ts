import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { groupsBelow, parseHierarchies } from "./control-groups.ts";

describe("parseHierarchies", () => {
  it("finds each hierarchy of version 1, and leaves out one of version 2 that controls nothing", () => {
    const mounts = [
      "tmpfs /sys/fs/cgroup tmpfs rw,relatime 0 0",
      "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0",
      "cgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0",
      "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0",
      "",
    ].join("\n");
    expect(parseHierarchies(mounts, () => false)).to.deep.equal([
      { directory: "/sys/fs/cgroup/cpu,cpuacct", version: 1 },
      { directory: "/sys/fs/cgroup/systemd", version: 1 },
    ]);
  });

  it("finds the one of version 2 that controls everything", () => {
    const mounts = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n";
    expect(parseHierarchies(mounts, (directory) => directory === "/sys/fs/cgroup")).to.deep.equal([
      { directory: "/sys/fs/cgroup", version: 2 },
    ]);
  });
});

describe("groupsBelow", () => {
  /** Many times the number of tries needed to read a group at the moment of its removal. */
  const LOOKS = 5_000;
  let directory: string;

  beforeEach(() => {
    directory = temporaryDirectory();
  });

  it("finds each group before those that it contains, and none in what is not there", () => {
    mkdirSync(join(directory, "a/b"), { recursive: true });
    expect(groupsBelow(directory)).to.deep.equal([directory, join(directory, "a"), join(directory, "a/b")]);
    expect(groupsBelow(join(directory, "c"))).to.deep.equal([]);
  });

  it("finds what stays while others go", async () => {
    const program = `
      const { mkdirSync, rmdirSync } = require("node:fs");
      for (;;) {
        mkdirSync("${directory}/a/b", { recursive: true });
        rmdirSync("${directory}/a/b");
        rmdirSync("${directory}/a");
      }`;
    const remover = new Worker(program, { eval: true });
    await once(remover, "online");
    try {
      for (let look = 0; look < LOOKS; look++) {
        expect(groupsBelow(directory)[0]).to.equal(directory);
      }
    } finally {
      await remover.terminate();
    }
  });
});
