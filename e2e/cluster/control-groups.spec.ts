import { expect } from "chai";
import { parseHierarchies } from "./control-groups.ts";

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
