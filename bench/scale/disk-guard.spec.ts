import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { DiskGuard, ScaleError } from "./disk-guard.ts";

const GIB = 1_024 ** 3;

describe("the guard of the disk", () => {
  const guardOf = (usedGib: number, freeGib: number): DiskGuard =>
    new DiskGuard("nowhere", 60, () => ({ used: usedGib * GIB, free: freeGib * GIB }));

  it("allows what fits into the limit, and leaves space on the disk", () => {
    guardOf(50, 20).requireSpace(9 * GIB, "the backup");
    guardOf(0, 4).requireSpace(GIB, "the backup");
  });

  it("names the limit that binds", () => {
    expect(() => guardOf(55, 100).requireSpace(6 * GIB, "the backup")).to.throw(
      ScaleError,
      "stopped before the backup: it would take 61.0 GiB in all, and --disk-gib allows 60.0 GiB",
    );
    expect(() => guardOf(10, 3.5).requireSpace(GIB, "the backup")).to.throw(
      ScaleError,
      "stopped before the backup: the disk has 3.5 GiB left, and that needs 4.0 GiB; set TMPDIR",
    );
  });

  it("measures the folder and its disk", () => {
    expect(() => new DiskGuard(temporaryDirectory(), 1).requireSpace(2 * GIB, "it")).to.throw("take 2.0 GiB in all");
    expect(() => new DiskGuard(temporaryDirectory(), 2 ** 40).requireSpace(2 ** 60, "it")).to.throw("the disk has");
  });
});
