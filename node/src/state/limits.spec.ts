import { expect } from "chai";
import { DEFAULT_STATE_LIMITS } from "./limits.ts";

describe("limits of the state", () => {
  it("are those of the API contract: 8 GiB of data, answers for 300 s, whole up to 4 KiB, history of an hour or 1,000,000 revisions", () => {
    expect(DEFAULT_STATE_LIMITS).to.deep.equal({
      dataBytesMax: 8_589_934_592,
      replayWindowMs: 300_000,
      replayAnswerBytesMax: 4_096,
      history: { revisionsMax: 1_000_000, ageMsMax: 3_600_000, bytesMax: 2_147_483_648 },
    });
  });
});
