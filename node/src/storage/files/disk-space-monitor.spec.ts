import { expect } from "chai";
import fc from "fast-check";
import { FakeTime, temporaryDirectory } from "../../../test/harness/index.ts";
import {
  type DiskSpaceLevel,
  DiskSpaceMonitor,
  type FileSystemSpace,
  fullBelow,
  measureDisk,
  spaceOf,
} from "./disk-space-monitor.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

describe("spaceOf", () => {
  it("is low below 10 % or 1 GiB, full below 2 % or 256 MiB, whichever is less", () => {
    const table: readonly (readonly [totalBytes: number, freeBytes: number, space: DiskSpaceLevel])[] = [
      [100 * GIB, GIB, "ok"],
      [100 * GIB, GIB - 1, "low"],
      [100 * GIB, 256 * MIB, "low"],
      [100 * GIB, 256 * MIB - 1, "full"],
      [1000 * MIB, 100 * MIB, "ok"],
      [1000 * MIB, 100 * MIB - 1, "low"],
      [1000 * MIB, 20 * MIB, "low"],
      [1000 * MIB, 20 * MIB - 1, "full"],
      [0, 0, "ok"],
    ];
    for (const [totalBytes, freeBytes, space] of table) {
      expect(spaceOf(freeBytes, totalBytes), `${freeBytes} of ${totalBytes}`).to.equal(space);
    }
  });

  it("never gets better with less room, and is full exactly below its bound", () => {
    const order = ["full", "low", "ok"];
    const bytes = fc.nat({ max: 20 * GIB });
    fc.assert(
      fc.property(bytes, bytes, bytes, (total, one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        expect(order.indexOf(spaceOf(less, total))).to.be.at.most(order.indexOf(spaceOf(more, total)));
        expect(spaceOf(one, total) === "full").to.equal(one < fullBelow(total));
      }),
    );
  });
});

describe("DiskSpaceMonitor", () => {
  const total = 100 * GIB;
  let time: FakeTime;
  let changes: DiskSpaceLevel[];
  let measured: number[];
  let asked: string[];
  /** Results of the measurements, in order; the last one repeats. */
  let answers: (() => Promise<FileSystemSpace>)[];
  let disk: DiskSpaceMonitor;

  const free = (freeBytes: number) => async (): Promise<FileSystemSpace> => ({ freeBytes, totalBytes: total });

  beforeEach(() => {
    time = new FakeTime();
    [changes, measured, asked] = [[], [], []];
    disk = new DiskSpaceMonitor({
      directory: "data",
      scheduler: time,
      measure: (directory) => {
        asked.push(directory);
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        return (answer as () => Promise<FileSystemSpace>)();
      },
      onMeasured: ({ freeBytes }) => measured.push(freeBytes),
      onChange: (space) => changes.push(space),
    });
  });
  afterEach(() => {
    disk.stop();
    expect(time.timerCount).to.equal(0);
  });

  it("measures each second, and reports only changes", async () => {
    answers = [free(2 * GIB), free(GIB / 2), free(GIB / 2), free(1), free(2 * GIB), free(2 * GIB)];
    for (let seconds = 0; seconds < 6; seconds++) {
      time.advance(1_000);
      await disk.refresh();
    }
    expect(changes).to.deep.equal(["low", "full", "ok"]);
    expect(disk.space).to.equal("ok");
    expect(measured).to.deep.equal([2 * GIB, GIB / 2, GIB / 2, 1, 2 * GIB, 2 * GIB]);
    expect(asked).to.deep.equal(Array.from({ length: 6 }, () => "data"));
  });

  it("looks at once when asked to", async () => {
    answers = [free(1)];
    await disk.refresh();
    expect([disk.space, ...changes]).to.deep.equal(["full", "full"]);
  });

  it("asks a disk that hangs only once, and keeps what was known", async () => {
    answers = [free(GIB / 2), () => new Promise(() => undefined)];
    await disk.refresh();
    time.advance(60_000);
    expect(asked).to.have.length(2);
    expect([disk.space, disk.failure]).to.deep.equal(["low", null]);
  });

  it("keeps what was known when measuring fails, says why, and goes on", async () => {
    answers = [free(GIB / 2), () => Promise.reject(new Error("EIO")), free(1)];
    await disk.refresh();
    await disk.refresh();
    expect([disk.space, disk.failure?.message]).to.deep.equal(["low", "EIO"]);
    await disk.refresh();
    expect([disk.space, disk.failure]).to.deep.equal(["full", null]);
  });

  it("says nothing after it was stopped, also of a measurement in flight", async () => {
    let answer: (room: FileSystemSpace) => void = () => undefined;
    answers = [
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    ];
    const refreshed = disk.refresh();
    disk.stop();
    answer({ freeBytes: 0, totalBytes: total });
    await refreshed;
    await disk.refresh();
    expect([changes.length, measured.length, asked.length]).to.deep.equal([0, 0, 1]);
  });
});

describe("measureDisk", () => {
  it("returns the space of the file system, or rejects", async () => {
    const directory = temporaryDirectory();
    const { freeBytes, totalBytes } = await measureDisk(directory);
    expect(freeBytes).to.be.greaterThan(0);
    expect(totalBytes).to.be.greaterThan(freeBytes);
    const failure = await measureDisk(`${directory}/absent`).catch((error: unknown) => error);
    expect(failure).to.have.property("code", "ENOENT");
  });
});
