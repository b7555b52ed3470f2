import { expect } from "chai";
import { failure, ScriptedMember } from "../../test/index.ts";
import { type Client, createClient, type UsageOptions } from "../index.ts";

const SENT = {
  requests: 1n,
  appendRequests: 2n,
  eventsAppended: 3n,
  bytesAppended: 4n,
  bytesStored: 5n,
  kvOperations: 6n,
  lockOperations: 7n,
  memoryOperations: 8n,
  memoryBytes: 9n,
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
const QUOTAS = ["bytes", "keys", "locks", "memory_bytes", "memory_regions", "event_bytes", "event_logs", "sessions"];

describe("usage of the SDK", () => {
  let member: ScriptedMember;
  let client: Client;

  beforeEach(async () => {
    member = await ScriptedMember.start({ getUsage: () => ({ totals: SENT }) });
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" } });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  it("has numbers for the whole period, its parts, API keys and namespaces", async () => {
    const quotas = QUOTAS.map((name, at) => ({ name, used: BigInt(at + 1), limit: BigInt(at + 11) }));
    member.scripts.getUsage = () => ({
      startMs: 1_000n,
      endMs: 3_000n,
      totals: SENT,
      buckets: [
        { startMs: 1_000n, counts: SENT },
        { startMs: 2_000n, counts: { ...SENT, bytesStored: undefined, memoryBytes: undefined } },
      ],
      apiKeys: [{ apiKeyId: "k", requests: 1n, eventsAppended: 3n, bytesAppended: 4n }],
      namespaces: [{ namespace: "team-a", quotas }],
      requestsPerMinute: 6_000n,
      asOfMs: 4_000n,
    });
    const useOf = (used: number) => ({ used, limit: used + 10 });
    expect(await client.usage.read()).to.deep.equal({
      startMs: 1_000,
      endMs: 3_000,
      asOfMs: 4_000,
      totals: NUMBERS,
      buckets: [
        { startMs: 1_000, ...NUMBERS },
        { startMs: 2_000, ...NUMBERS, bytesStored: undefined, memoryBytes: undefined },
      ],
      byKey: [{ apiKeyId: "k", requests: 1, eventsAppended: 3, bytesAppended: 4 }],
      namespaces: [
        {
          namespace: "team-a",
          bytes: useOf(1),
          keys: useOf(2),
          locks: useOf(3),
          memoryBytes: useOf(4),
          memoryRegions: useOf(5),
          eventBytes: useOf(6),
          eventLogs: useOf(7),
          sessions: useOf(8),
        },
      ],
      requestsPerMinuteMax: 6_000,
    });
  });

  it("is read for a period of days, texts and dates", async () => {
    const periods: readonly UsageOptions[] = [
      {},
      { from: "2030-01-01", to: new Date("2030-01-03"), granularity: "hour" },
      { from: "2030-01-01T01:00:00+01:00", to: "2032-02-29T00:00:00.5Z" },
    ];
    for (const period of periods) {
      await client.usage.read(period);
    }
    const start = BigInt(Date.parse("2030-01-01"));
    expect(member.calls.map(({ request }) => request)).to.deep.equal([
      { fromMs: 0n, toMs: 0n, granularity: 0 },
      { fromMs: start, toMs: BigInt(Date.parse("2030-01-03")), granularity: 1 },
      { fromMs: start, toMs: BigInt(Date.parse("2032-02-29")) + 500n, granularity: 0 },
    ]);
  });

  it("refuses what is no instant, or cannot be sent, before any request", async () => {
    const wrong = ["", "today", "2030-1-1", "2030-02-30", "2030-01-01T12:00", "2030-13-01", "1970-01-01", "1969-12-31"];
    for (const from of [...wrong, new Date(Number.NaN), new Date(0)]) {
      const error = await failure(client.usage.read({ from }));
      expect(error.message, String(from)).to.match(/^from must be a date or a time in ISO 8601/);
      expect((await failure(client.usage.read({ to: from }))).message).to.match(/^to must be/);
    }
    expect((await failure(client.usage.read({ from: 1 as never }))).message).to.equal(
      "from must be a Date or a string, not a number",
    );
    expect(member.calls).to.have.length(0);
  });
});
