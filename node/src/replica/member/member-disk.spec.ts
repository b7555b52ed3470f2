import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { FakeTime, temporaryDirectory } from "../../../test/harness/index.ts";
import type { FileSystemSpace } from "../../storage/index.ts";
import type { DiskSpaceLevel } from "../context/index.ts";
import { MemberDisk } from "./member-disk.ts";

const GIB = 1024 ** 3;
const ROOMY: FileSystemSpace = { freeBytes: 50 * GIB, totalBytes: 100 * GIB };
const FULL: FileSystemSpace = { freeBytes: 1, totalBytes: 100 * GIB };

describe("MemberDisk", () => {
  let directory: string;
  let time: FakeTime;
  let room: FileSystemSpace | Error;
  let changes: DiskSpaceLevel[];

  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
    time = new FakeTime();
    room = ROOMY;
    changes = [];
  });

  function diskOf(hasReserve: boolean): MemberDisk {
    const measureDisk = async () => {
      if (room instanceof Error) {
        throw room;
      }
      return room;
    };
    const onChange = (space: DiskSpaceLevel) => changes.push(space);
    return new MemberDisk({ directory, scheduler: time, measureDisk, hasReserve, onChange });
  }

  it("P45: gives its reserve back before a start on a full disk, and only then", async () => {
    mkdirSync(directory);
    const reserve = join(directory, "reserve");
    writeFileSync(reserve, "room");
    const roomy = diskOf(true);
    await roomy.ensureSpace();
    expect(existsSync(reserve)).to.equal(true);
    await roomy.stop();
    room = FULL;
    const full = diskOf(true);
    await full.ensureSpace();
    expect(existsSync(reserve)).to.equal(false);
    expect(full.space).to.equal("full");
    await full.stop();
  });

  it("P45: releases its reserve on request, and reports the state of the disk then", async () => {
    mkdirSync(directory);
    const reserve = join(directory, "reserve");
    writeFileSync(reserve, "room");
    const disk = diskOf(true);
    room = FULL;
    await disk.refresh();
    expect(existsSync(reserve)).to.equal(true);
    room = ROOMY;
    await disk.release();
    expect(changes).to.deep.equal(["full", "ok"]);
    await disk.stop();
  });

  it("keeps no reserve if configured so, and starts if there is no directory yet", async () => {
    room = new Error("ENOENT");
    const disk = diskOf(false);
    await disk.ensureSpace();
    expect(disk.alarms).to.deep.equal(["the free space on the disk is not known: ENOENT"]);
    mkdirSync(directory);
    room = ROOMY;
    await disk.refresh();
    expect(disk.alarms).to.deep.equal([]);
    await disk.stop();
    expect(existsSync(join(directory, "reserve"))).to.equal(false);
  });
});
