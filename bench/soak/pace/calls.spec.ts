import { QuoinError, type QuoinErrorCode } from "@quoin/client";
import { expect } from "chai";
import { until } from "../../../testing/index.ts";
import { failureOf } from "../../test/index.ts";
import { Calls, type CallTime } from "./calls.ts";
import { FaultTimes } from "./fault-times.ts";

describe("the calls of a load", () => {
  let faults: FaultTimes;
  let times: CallTime[];
  let calls: Calls;

  beforeEach(() => {
    faults = new FaultTimes();
    times = [];
    calls = new Calls(faults, (time) => times.push(time));
  });

  /** A call that fails so often, and then answers with the request ids of all attempts. */
  const failing = (count: number, code: QuoinErrorCode) => {
    const ids: string[] = [];
    return async ({ requestId }: { readonly requestId: string }): Promise<readonly string[]> => {
      ids.push(requestId);
      if (ids.length <= count) {
        throw new QuoinError({ code, message: "not now" });
      }
      return ids;
    };
  };

  it("are repeated with the same request id while a fault is in progress", async () => {
    const end = faults.begin("the leader is killed");
    const ids = await calls.perform("put", failing(2, "UNAVAILABLE"));
    end();
    expect(ids).to.have.lengthOf(3);
    expect(new Set(ids).size).to.equal(1);
    expect(times.map(({ kind, failed, isDisturbed }) => [kind, failed, isDisturbed])).to.deep.equal([["put", 2, true]]);
  });

  it("may fail after a fault only if they have begun before its end", async () => {
    const end = faults.begin("the leader is killed");
    const call = failing(1, "DEADLINE_EXCEEDED");
    const result = calls.perform("put", (identity) => {
      end();
      return call(identity);
    });
    expect(await result).to.have.lengthOf(2);
    const endedMs = performance.now();
    await until("a later moment", () => performance.now() > endedMs, { limitMs: 20_000, pollMs: 1 });
    expect(await failureOf(calls.perform("put", failing(1, "UNAVAILABLE")))).to.equal(
      "Error: put failed with UNAVAILABLE while no fault was in progress: not now",
    );
    expect(times).to.have.lengthOf(1);
  });

  it("fail for every other reason, also during a fault", async () => {
    faults.begin("the leader is killed");
    expect(await failureOf(calls.perform("get", failing(1, "NOT_FOUND")))).to.equal(
      "Error: get failed with NOT_FOUND after: the leader is killed: not now",
    );
  });

  it("count from when they were due, and know whether they were disturbed", async () => {
    await calls.perform("get", async () => undefined, performance.now() - 500);
    expect(times[0]?.tookMs).to.be.at.least(500);
    expect(times[0]).to.include({ kind: "get", failed: 0, isDisturbed: false });
  });
});
