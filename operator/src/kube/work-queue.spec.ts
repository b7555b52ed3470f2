import { expect } from "chai";
import { ManualTiming, settled, until } from "../../test/index.ts";
import { WorkQueue } from "./work-queue.ts";

describe("work queue", () => {
  let timing: ManualTiming;
  let queue: WorkQueue;
  /** Runs that have begun and not ended. */
  let open: { key: string; end: (result: number | null | Error) => void }[];
  let began: string[];

  beforeEach(() => {
    timing = new ManualTiming();
    open = [];
    began = [];
    queue = new WorkQueue(
      (key) =>
        new Promise((resolve, reject) => {
          began.push(key);
          open.push({ key, end: (result) => (result instanceof Error ? reject(result) : resolve(result)) });
        }),
      timing,
    );
    queue.start();
  });

  afterEach(async () => {
    for (const { end } of open) {
      end(null);
    }
    await queue.stop();
  });

  async function end(key: string, result: number | null | Error): Promise<void> {
    const at = open.findIndex((run) => run.key === key);
    const [run] = open.splice(at, 1);
    run?.end(result);
    await settled();
  }

  it("runs a requested key at once, but never twice at the same time", async () => {
    queue.add("a");
    queue.add("a");
    await until(() => began.length === 1);
    queue.add("a");
    queue.add("a");
    await settled();
    expect(began).to.deep.equal(["a"]);
    await end("a", null);
    expect(began).to.deep.equal(["a", "a"]);
    await end("a", null);
    expect(began).to.deep.equal(["a", "a"]);
  });

  it("runs four keys beside each other, and no more", async () => {
    for (const key of ["a", "b", "c", "d", "e"]) {
      queue.add(key);
    }
    await settled();
    expect(began).to.deep.equal(["a", "b", "c", "d"]);
    expect(queue.depth).to.equal(1);
    await end("b", null);
    expect(began).to.deep.equal(["a", "b", "c", "d", "e"]);
    expect(queue.depth).to.equal(0);
  });

  it("runs a key again when the work says so, or earlier on request", async () => {
    queue.add("a");
    await settled();
    await end("a", 10_000);
    timing.advance(9_999);
    await settled();
    expect(began).to.have.length(1);
    timing.advance(1);
    await settled();
    expect(began).to.have.length(2);
    await end("a", 10_000);
    queue.add("a", 20_000);
    queue.add("a", 500);
    timing.advance(500);
    await settled();
    expect(began).to.have.length(3);
    await end("a", null);
    timing.advance(100_000);
    await settled();
    expect(began, "the earliest wish stands for all of them").to.have.length(3);
  });

  it("retries failures with a backoff of up to 15 s, and resets it after a success", async () => {
    timing.chance = 0.999;
    queue.add("a");
    await settled();
    const pauses: number[] = [];
    for (let at = 0; at < 11; at++) {
      await end("a", new Error("no"));
      const from = timing.nowMs;
      while (open.length === 0) {
        timing.advance(100);
        await settled();
      }
      pauses.push(timing.nowMs - from);
    }
    expect(pauses).to.deep.equal([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000, 15_000, 15_000]);
    await end("a", 0);
    await end("a", new Error("no"));
    timing.advance(200);
    await settled();
    expect(open).to.have.length(1);
  });

  it("begins nothing after stop, and waits for running work", async () => {
    queue.add("a");
    await settled();
    let stopped = false;
    const stopping = queue.stop().then(() => {
      stopped = true;
    });
    queue.add("b");
    await settled();
    expect([stopped, began]).to.deep.equal([false, ["a"]]);
    await end("a", null);
    await stopping;
    expect(began).to.deep.equal(["a"]);
  });
});
