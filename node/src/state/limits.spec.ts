import { expect } from "chai";
import { DEFAULT_STATE_LIMITS } from "./limits.ts";

describe("limits of the state", () => {
  it("are those of the API contract: 8 GiB of data, answers for 300 s, whole up to 4 KiB; and queues that one entry can end", () => {
    expect(DEFAULT_STATE_LIMITS).to.deep.equal({
      dataBytesMax: 8_589_934_592,
      replayWindowMs: 300_000,
      replayAnswerBytesMax: 4_096,
      lockWaitsMax: 1_000,
      lockReadersMax: 1_000,
    });
  });
});
