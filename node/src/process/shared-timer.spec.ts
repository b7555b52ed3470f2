import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { until } from "../../test/harness/index.ts";
import { SharedTimer } from "./shared-timer.ts";

const INTERVAL_MS = 5;

describe("SharedTimer", () => {
  let pulse: SharedTimer;
  let beats: string[];

  beforeEach(() => {
    beats = [];
    pulse = new SharedTimer(INTERVAL_MS, () => beats.push("own"));
  });

  afterEach(() => pulse.stop());

  async function untilBeats(count: number): Promise<void> {
    const before = beats.length;
    await until(`${count} beats`, () => beats.length >= before + count);
  }

  it("calls back everything with its interval, in order, until it leaves", async () => {
    const { scheduler } = pulse;
    const callback = (): void => {
      beats.push("joined");
    };
    const leave = scheduler.every(INTERVAL_MS, callback);
    const leaveToo = scheduler.every(INTERVAL_MS, callback);
    await untilBeats(6);
    expect(beats.slice(0, 6)).to.deep.equal(["own", "joined", "joined", "own", "joined", "joined"]);
    leave();
    beats = [];
    await untilBeats(4);
    expect(beats.slice(0, 4)).to.deep.equal(["own", "joined", "own", "joined"]);
    leaveToo();
    beats = [];
    await untilBeats(2);
    expect(beats.slice(0, 2)).to.deep.equal(["own", "own"]);
  });

  it("uses a separate timer for other intervals", async () => {
    const cancel = pulse.scheduler.every(INTERVAL_MS + 1, () => beats.push("other"));
    pulse.stop();
    beats = [];
    await untilBeats(2);
    cancel();
    expect(beats.slice(0, 2)).to.deep.equal(["other", "other"]);
  });

  for (const [what, code, isKept] of [
    ["does not keep a process alive by itself", "", false],
    ["keeps a process alive while something has joined", "pulse.scheduler.every(5, () => {});", true],
    ["lets it end when all have left", "pulse.scheduler.every(5, () => {})();", false],
  ] as const) {
    it(what, async () => {
      const url = JSON.stringify(new URL("./shared-timer.ts", import.meta.url).href);
      const program = `import(${url}).then(({ SharedTimer }) => {
        const pulse = new SharedTimer(5, () => {});
        ${code}
        setTimeout(() => process.exit(7), 200).unref();
      });`;
      const [exitCode] = await once(new Worker(program, { eval: true }), "exit");
      expect(exitCode).to.equal(isKept ? 7 : 0);
    });
  }
});
