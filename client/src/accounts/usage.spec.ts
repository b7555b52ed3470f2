import { expect } from "chai";
import { answerJson, ScriptedHttpMember } from "../../test/index.ts";
import { createClient } from "../index.ts";

const SENT = {
  requests: 1,
  append_requests: 2,
  events_appended: 3,
  bytes_appended: 4,
  bytes_stored: 5,
  kv_operations: 6,
  lock_operations: 7,
  memory_operations: 8,
  memory_bytes: 9,
};
const NUMBERS = {
  requests: 1,
  appendRequests: 2,
  eventsAppended: 3,
  bytesAppended: 4,
  bytesStored: 5,
  kvOperations: 6,
  lockOperations: 7,
  memoryOperations: 8,
  memoryBytes: 9,
};

const [bytes, keys, locks, memory_bytes, memory_regions, event_bytes, event_logs] = [1, 2, 3, 4, 5, 6, 7].map(
  (used) => ({
    used,
    limit: used + 10,
  }),
);

describe("usage of the SDK", () => {
  it("is read for a period, with numbers for the whole, its parts and API keys", async () => {
    const member = await ScriptedHttpMember.start((response) =>
      answerJson(response, 200, {
        period: { start: "2030-01-01T00:00:00.000Z", end: "2030-01-03T00:00:00.000Z" },
        totals: SENT,
        buckets: [
          { start: "2030-01-02T00:00:00.000Z", ...SENT },
          { start: "2030-01-03T00:00:00.000Z", ...SENT, bytes_stored: null, memory_bytes: null },
        ],
        by_key: [{ api_key_id: "k", requests: 1, events_appended: 3, bytes_appended: 4 }],
        namespaces: [
          {
            namespace: "team-a",
            quotas: { bytes, keys, locks, memory_bytes, memory_regions, event_bytes, event_logs },
          },
        ],
        limits: { requests_per_minute: 6_000 },
        as_of: "2030-01-04T00:00:00.000Z",
      }),
    );
    const credentials = { token: "t" };
    const client = createClient({ endpoints: ["127.0.0.1:1"], httpEndpoints: [member.url], credentials });
    try {
      expect(await client.usage.read()).to.deep.equal({
        startMs: Date.parse("2030-01-01"),
        endMs: Date.parse("2030-01-03"),
        asOfMs: Date.parse("2030-01-04"),
        totals: NUMBERS,
        buckets: [
          { startMs: Date.parse("2030-01-02"), ...NUMBERS },
          { startMs: Date.parse("2030-01-03"), ...NUMBERS, bytesStored: undefined, memoryBytes: undefined },
        ],
        byKey: [{ apiKeyId: "k", requests: 1, eventsAppended: 3, bytesAppended: 4 }],
        namespaces: [
          {
            namespace: "team-a",
            bytes,
            keys,
            locks,
            memoryBytes: memory_bytes,
            memoryRegions: memory_regions,
            eventBytes: event_bytes,
            eventLogs: event_logs,
          },
        ],
        requestsPerMinuteMax: 6_000,
      });
      await client.usage.read({ from: "2030-01-01", to: new Date("2030-01-03"), granularity: "hour" });
      expect(member.requests.map(({ path }) => path)).to.deep.equal([
        "/billing/usage?granularity=day",
        "/billing/usage?granularity=hour&from=2030-01-01&to=2030-01-03T00%3A00%3A00.000Z",
      ]);
    } finally {
      client.close();
      await member.stop();
    }
  });
});
