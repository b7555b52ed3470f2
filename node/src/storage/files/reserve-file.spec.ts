import { existsSync, mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { fullBelow, spaceOf } from "./disk-space-monitor.ts";
import { RESERVE_FILE, ReserveFile, reserveBytes } from "./reserve-file.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** The smallest file system with a reserve. */
const TOTAL = 4 * GIB;
const BLOCK_BYTES = 512;

describe("reserveBytes", () => {
  it("is 64 MiB more than makes a disk full, less than 5 % of it, and none below 4 GiB", () => {
    expect(reserveBytes(100 * GIB)).to.equal(320 * MIB);
    expect(reserveBytes(TOTAL)).to.equal(Math.floor(TOTAL / 50) + 64 * MIB);
    expect(reserveBytes(TOTAL - 1)).to.equal(0);
    fc.assert(
      fc.property(fc.integer({ min: TOTAL, max: 100_000 * GIB }), (total) => {
        expect(reserveBytes(total)).to.be.lessThan(total / 20);
        // After its release the disk is not full any more.
        expect(spaceOf(reserveBytes(total), total)).not.to.equal("full");
        expect(reserveBytes(total)).to.be.at.least(fullBelow(total));
      }),
    );
  });
});

describe("ReserveFile", function () {
  this.timeout(60_000);
  const roomy = { freeBytes: 2 * GIB, totalBytes: TOTAL };
  const whole = reserveBytes(TOTAL);
  let directory: string;
  let path: string;
  let reserve: ReserveFile;

  beforeEach(() => {
    directory = temporaryDirectory();
    path = join(directory, RESERVE_FILE);
    reserve = new ReserveFile(directory);
  });
  afterEach(() => reserve.stop());

  const length = (): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

  /** Makes a file of this many bytes without writing them: a process reads only the length of what is there. */
  function leave(bytes: number): void {
    writeFileSync(path, "");
    truncateSync(path, bytes);
  }

  it("grows by a slice with each call until it is whole, takes its room for real, and gives it back", async () => {
    const lengths: number[] = [];
    while (length() < whole) {
      await reserve.maintain(roomy);
      lengths.push(length());
    }
    const slice = 8 * MIB;
    expect(lengths.slice(0, -1)).to.deep.equal(lengths.slice(0, -1).map((_, at) => (at + 1) * slice));
    expect(lengths.at(-1)).to.equal(whole);
    const { blocks, mode } = statSync(path);
    expect(blocks * BLOCK_BYTES, "not sparse").to.be.at.least(whole);
    expect(mode & 0o777).to.equal(0o600);
    await reserve.maintain(roomy);
    expect(length()).to.equal(whole);
    await reserve.release();
    expect(existsSync(path)).to.equal(false);
  });

  it("is made only where the disk has room for all of it without getting low", async () => {
    const low = Math.ceil(TOTAL / 10);
    for (const room of [
      { freeBytes: low + whole - 1, totalBytes: TOTAL },
      { freeBytes: 0, totalBytes: TOTAL },
      { freeBytes: TOTAL - 1, totalBytes: TOTAL - 1 },
    ]) {
      const other = new ReserveFile(directory);
      await other.maintain(room);
      expect(existsSync(path)).to.equal(false);
      expect(other.failure).to.equal(null);
    }
    await reserve.maintain({ freeBytes: low + whole, totalBytes: TOTAL });
    expect(length()).to.equal(8 * MIB);
  });

  it("is made again after it was given back, once there is room", async () => {
    await reserve.maintain(roomy);
    await reserve.release();
    await reserve.maintain({ freeBytes: 0, totalBytes: TOTAL });
    expect(existsSync(path)).to.equal(false);
    await reserve.maintain(roomy);
    expect(length()).to.equal(8 * MIB);
  });

  it("goes on with what an earlier process has left", async () => {
    leave(whole - 1000);
    await reserve.maintain(roomy);
    expect(length()).to.equal(whole);
    rmSync(path);
    const other = new ReserveFile(directory);
    leave(whole + 5);
    await other.maintain(roomy);
    expect(length(), "more than enough stays").to.equal(whole + 5);
  });

  it("begins no second step while one is in flight, and none after it was stopped", async () => {
    const first = reserve.maintain(roomy);
    await reserve.maintain(roomy);
    await first;
    expect(length()).to.equal(8 * MIB);
    const last = reserve.maintain(roomy);
    await reserve.stop();
    await last;
    await reserve.maintain(roomy);
    expect(length()).to.equal(8 * MIB);
  });

  it("reports a failure, leaves the disk alone for a while, and tries again", async () => {
    rmSync(directory, { recursive: true });
    await reserve.maintain(roomy);
    expect(reserve.failure?.message).to.include("ENOENT");
    mkdirSync(directory);
    for (let call = 0; call < 60; call++) {
      await reserve.maintain(roomy);
    }
    expect(length()).to.equal(0);
    await reserve.maintain(roomy);
    expect(length()).to.be.greaterThan(0);
    await reserve.release();
    expect(reserve.failure).to.equal(null);
  });

  it("reports that it could not be deleted", async () => {
    mkdirSync(path);
    await reserve.release();
    expect(reserve.failure).not.to.equal(null);
  });
});
