import { expect } from "chai";
import { until } from "../../../testing/index.ts";
import { failureOf } from "../../test/index.ts";
import { type Action, Pace } from "./pace.ts";
import { Pool } from "./pool.ts";

const WAIT = { limitMs: 20_000, pollMs: 1 };

describe("a load at a fixed rate", () => {
  it("begins each action when it is due, while others still run", async () => {
    const due: Record<string, number[]> = { often: [], seldom: [], other: [] };
    const actionOf = (name: string, perSecond: number, work: Promise<void>): Action => {
      const perform = (dueMs: number): Promise<void> => {
        due[name]?.push(dueMs);
        return work;
      };
      return { name, perSecond, perform };
    };
    const never = Promise.withResolvers<void>();
    const pace = new Pace([actionOf("often", 200, Promise.resolve()), actionOf("seldom", 20, never.promise)]);
    pace.start();
    await until("three of the seldom ones", () => (due.seldom?.length ?? 0) >= 3, WAIT);
    never.resolve();
    await pace.stop();
    const [first = 0, , third = 0] = due.seldom ?? [];
    expect(third - first).to.be.closeTo(100, 0.001);
    const often = due.often?.filter((dueMs) => dueMs > first && dueMs <= third) ?? [];
    expect(often).to.have.lengthOf(20);
    const before = due.often?.length;
    const other = new Pace([actionOf("other", 100, Promise.resolve())]);
    other.start();
    await until("three others", () => (due.other?.length ?? 0) >= 3, WAIT);
    await other.stop();
    expect(due.often?.length, "nothing begins after the stop").to.equal(before);
  });

  it("counts what it could not do, because everything was in use", async () => {
    const pool = new Pool(["the only one"]);
    const used = Promise.withResolvers<void>();
    const pace = new Pace([{ name: "use", perSecond: 500, perform: () => pool.use(() => used.promise) }]);
    pace.start();
    await until("a use that was skipped", () => pace.skipped.get("use"), WAIT);
    used.resolve();
    await pace.stop();
  });

  it("reports the first action that fails", async () => {
    const perform = async (): Promise<void> => {
      throw new Error("a value is lost");
    };
    const pace = new Pace([{ name: "get", perSecond: 500, perform }]);
    pace.start();
    expect(await failureOf(pace.failed)).to.equal("Error: a value is lost");
    expect(await failureOf(pace.stop()), "also at the end").to.equal("Error: a value is lost");
  });

  it("gives a thing to one action at a time, and back, also after a failure", async () => {
    const pool = new Pool([1, 2]);
    const used: number[] = [];
    const first = Promise.withResolvers<void>();
    const work = (thing: number, end: Promise<void>): Promise<void> => {
      used.push(thing);
      return end;
    };
    const running = pool.use((thing) => work(thing, first.promise));
    const other = pool.use((thing) => work(thing, Promise.resolve()));
    expect(used.toSorted()).to.deep.equal([1, 2]);
    expect(pool.use((thing) => work(thing, Promise.resolve()))).to.equal(null);
    first.reject(new Error("lost"));
    expect(await failureOf(running as Promise<void>)).to.equal("Error: lost");
    await other;
    await pool.use((thing) => work(thing, Promise.resolve()));
    expect(used).to.have.lengthOf(3);
  });
});
