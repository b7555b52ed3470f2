import { expect } from "chai";
import { DEFAULT_STATE_LIMITS } from "./limits.ts";

describe("limits of the state", () => {
  it("are those of the API contract, of queues that one entry can end, and of comparing states (P44)", () => {
    expect(DEFAULT_STATE_LIMITS).to.deep.equal({
      dataBytesMax: 8_589_934_592,
      memoryRegionBytesMax: 67_108_864,
      memoryNamespaceBytesMax: 1_073_741_824,
      namespaceKeysMax: 10_000_000,
      namespaceLocksMax: 1_000_000,
      namespaceRegionsMax: 100_000,
      namespaceLogsMax: 10_000,
      namespaceSessionsMax: 20_000,
      sessionObjectsMax: 1_000,
      sessionBytesMax: 4_194_304,
      namespaceWatchesMax: 10_000,
      userApiKeysMax: 1_000,
      replayWindowMs: 300_000,
      replayAnswerBytesMax: 4_096,
      lockWaitsMax: 1_000,
      lockReadersMax: 1_000,
      eventBytesMax: 16 * 1024 ** 3,
      logsMax: 100_000,
      history: { revisionsMax: 1_000_000, ageMsMax: 3_600_000, bytesMax: 2_147_483_648 },
      checkpointEntries: 1_000,
    });
  });
});
