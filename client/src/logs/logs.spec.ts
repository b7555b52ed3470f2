import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember } from "../../test/index.ts";
import { type Client, createClient, type TokenSource } from "../index.ts";

const LOG = "00000000-0000-4000-8000-000000000001";
const UUID = /^[0-9a-f-]{36}$/;
const STORED = { sequence: 7n };

type Scripts = ScriptedMember["scripts"];

describe("logs of the SDK", () => {
  const members: ScriptedMember[] = [];
  const clients: Client[] = [];
  let runtime: FakeRuntime;

  beforeEach(() => {
    runtime = new FakeRuntime();
    runtime.chance = 0;
  });

  afterEach(() => {
    for (const client of clients.splice(0)) {
      client.close();
    }
    for (const member of members.splice(0)) {
      member.stop();
    }
  });

  /** A client of one member for each script; the first one gets the first request. */
  async function connect(scripts: readonly Scripts[], credentials: TokenSource | { token: string } = { token: "t" }) {
    members.push(...(await Promise.all(scripts.map((script) => ScriptedMember.start(script)))));
    const client = createClient({ endpoints: members.map(({ endpoint }) => endpoint), credentials, runtime });
    clients.push(client);
    return client;
  }

  const requests = (at = 0) => members[at]!.calls.map(({ request }) => request);

  it("are created, described, changed and deleted", async () => {
    const log = {
      logId: LOG,
      name: "orders",
      namespace: "a",
      firstSequence: 3n,
      lastSequence: 7n,
      eventCount: 5n,
      sizeBytes: 50n,
      createdAtMs: 1_000n,
      createdBy: "u",
      settings: new Map([["retention.max_bytes", 10n]]),
    };
    const client = await connect([
      { createLog: () => ({ log }), getLog: () => ({ log }), updateLog: () => ({ log }), deleteLog: () => ({}) },
    ]);
    const info = {
      logId: LOG,
      name: "orders",
      namespace: "a",
      firstSequence: 3,
      lastSequence: 7,
      eventCount: 5,
      sizeBytes: 50,
      createdAtMs: 1_000,
      createdBy: "u",
      settings: { duplicateWindowSeconds: null, retentionMaxAgeSeconds: null, retentionMaxBytes: 10 },
    };
    const settings = { retentionMaxBytes: 10, retentionMaxAgeSeconds: null };
    expect(await client.logs.create("orders", { namespace: "a", settings })).to.deep.equal(info);
    expect(await client.logs.describe(LOG)).to.deep.equal(info);
    expect(await client.logs.updateSettings(LOG, settings)).to.deep.equal(info);
    await client.logs.delete(LOG);
    const set = new Map([["retention.max_bytes", 10n]]);
    expect(requests()).to.deep.equal([
      { name: "orders", namespace: "a", settings: set },
      { logId: LOG, consistency: 0 },
      { logId: LOG, settings: set, unsetSettings: ["retention.max_age_secs"] },
      { logId: LOG },
    ]);
  });

  it("are listed page by page", async () => {
    let count = 0;
    const client = await connect([
      {
        listLogs: () => {
          count += 1;
          return { logs: [{ logId: LOG, name: `log-${count}` }], nextPageToken: count === 1 ? "more" : "" };
        },
      },
    ]);
    const pages = await Array.fromAsync(client.logs.pages({ namespace: "a", pageSize: 1 }));
    expect(pages.map((page) => page.map(({ name }) => name))).to.deep.equal([["log-1"], ["log-2"]]);
    expect((await client.logs.find("log-3"))?.name).to.equal("log-3");
    const fields = { name: "", namespace: "a", pageSize: 1, consistency: 0 };
    expect(requests()).to.deep.equal([
      { ...fields, pageToken: "" },
      { ...fields, pageToken: "more" },
      { name: "log-3", namespace: "default", pageSize: 0, pageToken: "", consistency: 0 },
    ]);
  });

  it("send an append again with its request id, at the next member, whatever its outcome", async () => {
    for (const outcome of ["not-executed", "unknown"] as const) {
      const client = await connect([
        { appendEvent: () => refuse({ code: "UNAVAILABLE", reason: "NO_LEADER", outcome }) },
        { appendEvent: () => STORED },
      ]);
      expect(await client.logs.append(LOG, "a")).to.deep.equal({ sequence: 7, replayed: false });
      const calls = members.flatMap((member) => member.calls);
      expect(calls).to.have.length(2);
      expect(calls[1]?.requestId).to.deep.equal(calls[0]?.requestId);
      expect(calls[1]?.request).to.deep.equal(calls[0]?.request);
      for (const member of members.splice(0)) {
        member.stop();
      }
    }
  });

  it("send a key only if one is given, and tell of events that are stored already", async () => {
    const client = await connect([
      {
        appendEvent: ({ idempotencyKey }, call) => {
          if (idempotencyKey !== "") {
            call.sendHeader("replayed", "true");
          }
          return STORED;
        },
      },
    ]);
    expect((await client.logs.append(LOG, "a")).replayed).to.equal(false);
    expect((await client.logs.append(LOG, "a", { key: " grüße 鍵" })).replayed).to.equal(true);
    const guard = { namespace: "default", lockName: "a/b", fencingToken: 7, rw: true };
    await client.logs.append(LOG, Uint8Array.of(255), { guard, expectedSequence: 0 });
    expect(requests()).to.deep.equal([
      {
        logId: LOG,
        payload: Buffer.from("a"),
        idempotencyKey: "",
        expectedSequence: undefined,
        guard: undefined,
      },
      {
        logId: LOG,
        payload: Buffer.from("a"),
        idempotencyKey: " grüße 鍵",
        expectedSequence: undefined,
        guard: undefined,
      },
      {
        logId: LOG,
        payload: Buffer.from([255]),
        idempotencyKey: "",
        expectedSequence: 0n,
        guard: { namespace: "default", lockName: "a/b", fencingToken: 7n, rw: true, sessionId: undefined },
      },
    ]);
  });

  it("append a batch under its key, or under its request id, and return its sequences in order", async () => {
    const runs = [
      { firstSequence: 8n, count: 1n },
      { firstSequence: 3n, count: 2n },
    ];
    const answers = [
      { runs, lastSequence: 8n },
      { runsOmitted: true, lastSequence: 8n },
      { runs: [], lastSequence: 8n },
    ];
    const client = await connect([{ appendEvents: () => answers.shift()! }]);
    const payloads = ["one\n", "", Uint8Array.of(0)];
    expect(await client.logs.appendBatch(LOG, payloads)).to.deep.equal({
      sequences: [8, 3, 4],
      lastSequence: 8,
      replayed: false,
    });
    const omitted = await client.logs.appendBatch(LOG, payloads, { key: "k" });
    expect(omitted).to.deep.equal({ sequences: undefined, lastSequence: 8, replayed: false });
    expect(await failure(client.logs.appendBatch(LOG, payloads))).to.include({ code: "INTERNAL" });
    const [first, second] = members[0]!.calls;
    expect(first?.request).to.deep.equal({
      logId: LOG,
      payloads: [Buffer.from("one\n"), Buffer.alloc(0), Buffer.from([0])],
      idempotencyKey: first?.requestId[0],
      expectedSequence: undefined,
      guard: undefined,
    });
    expect(first?.requestId[0]).to.match(UUID);
    expect(second?.request).to.include({ idempotencyKey: "k" });
  });

  it("refuse a batch that no message takes, before any request", async () => {
    const client = await connect([
      { appendEvents: ({ payloads }) => ({ runs: [{ count: BigInt(payloads.length) }] }) },
    ]);
    const large = (bytes: number) => client.logs.appendBatch(LOG, [Buffer.alloc(bytes)], { key: "k" });
    const overhead = 2 + LOG.length + 3 + 5;
    const tooLarge = await failure(large(4 * 1_024 * 1_024 - overhead + 1));
    expect(tooLarge).to.include({ code: "INVALID_ARGUMENT", reason: "TOO_LARGE", outcome: "not-executed" });
    expect([...tooLarge.details]).to.deep.equal([
      ["field", "payloads"],
      ["limit", "4194304"],
    ]);
    expect(members[0]?.calls).to.have.length(0);
    await large(4 * 1_024 * 1_024 - overhead);
    const tooMany = await failure(client.logs.appendBatch(LOG, Array(10_001).fill("")));
    expect(tooMany).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
  });

  it("do not take the refusal of a second attempt as the outcome of the first, unless it was decided", async () => {
    const refusals = [
      { code: "UNAVAILABLE", outcome: "unknown" },
      { code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" },
    ] as const;
    const client = await connect(refusals.map((refusal) => ({ appendEvent: () => refuse(refusal) })));
    // The first attempt may have stored the event, or may still be on its way.
    expect(await failure(client.logs.append(LOG, "a"))).to.include({ reason: "ACCESS_DENIED", outcome: "unknown" });
  });

  it("report the last sequence of a conflict, and a hold that has ended", async () => {
    const conflicted = { code: "FAILED_PRECONDITION", reason: "SEQUENCE_CONFLICT" } as const;
    const client = await connect([
      {
        appendEvent: ({ guard }) =>
          guard === undefined
            ? refuse({ ...conflicted, details: new Map([["last_sequence", "41"]]) })
            : refuse({ code: "ABORTED", reason: "FENCED" }),
      },
    ]);
    const conflict = await failure(client.logs.append(LOG, "a", { expectedSequence: 40 }));
    expect(conflict).to.include({ ...conflicted, outcome: "not-executed" });
    expect(conflict.details.get("last_sequence")).to.equal("41");
    const guard = { namespace: "default", lockName: "l", fencingToken: 7 };
    expect(await failure(client.logs.append(LOG, "a", { guard }))).to.include({ code: "ABORTED", reason: "FENCED" });
  });

  it("refuse invalid arguments before any request", async () => {
    const client = await connect([{}]);
    for (const [field, work] of [
      ["key", () => client.logs.append(LOG, "a", { key: "" })],
      ["key", () => client.logs.append(LOG, "a", { key: "\ud800" })],
      ["payload", () => client.logs.append(LOG, "\ud800")],
      ["expectedSequence", () => client.logs.append(LOG, "a", { expectedSequence: 2 ** 53 })],
      ["payloads", () => client.logs.appendBatch(LOG, [])],
      ["limit", () => client.logs.read(LOG, { limit: 0 })],
      ["pageSize", () => client.logs.pages({ pageSize: 0 }).next()],
      ["namespace", () => client.logs.create("a", { namespace: "" })],
      ["name", () => client.logs.find("")],
    ] as const) {
      const error = await failure(work());
      expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
      expect(error.details.get("field")).to.equal(field);
    }
    expect(members[0]?.calls).to.have.length(0);
  });

  it("read a page, also with an event that is as large as the largest batch of HTTP", async () => {
    const payload = Buffer.alloc(10 * 1_024 * 1_024, "x");
    const event = { sequence: 3n, appendedAtMs: 1_000n, payload, idempotencyKey: "k:0" };
    const client = await connect([{ readEvents: () => ({ events: [event], lastSequence: 4n }) }]);
    // The deadline is not the subject: a busy machine takes long to send and to decode so much.
    const page = await client.logs.read(LOG, { fromSequence: 3, limit: 5, waitSeconds: 1, timeoutMs: 30_000 });
    const [read] = page.events;
    expect(page.lastSequence).to.equal(4);
    expect([read?.sequence, read?.timestampMs, read?.key, payload.equals(read!.payload)]).to.deep.equal([
      ...[3, 1_000, "k:0", true],
    ]);
    expect(requests()).to.deep.equal([{ logId: LOG, fromSequence: 3n, pageSize: 5, waitSeconds: 1n, consistency: 0 }]);
  });

  describe("tails", () => {
    const toldOf = (...sequences: readonly number[]) => ({
      events: sequences.map((sequence) => ({ sequence: BigInt(sequence), payload: Buffer.from("a") })),
    });

    it("continue after the last event, at the next member, if a stream ends", async () => {
      const client = await connect([{}, {}, {}]);
      const [first, second, third] = members as [ScriptedMember, ScriptedMember, ScriptedMember];
      first.streams.tailEvents = (_request, stream) => {
        stream.send({ created: true });
        stream.send(toldOf(3, 4));
        stream.fail({ code: "UNAVAILABLE", reason: "SHUTTING_DOWN" });
      };
      second.streams.tailEvents = () => refuse({ code: "RESOURCE_EXHAUSTED", reason: "RATE_LIMITED" });
      third.streams.tailEvents = (_request, stream) => {
        stream.send({ created: true });
        stream.send(toldOf(5, 6));
      };
      const seen: number[] = [];
      for await (const { sequence, payload } of client.logs.tail(LOG, { fromSequence: 3 })) {
        expect(String.fromCharCode(...payload)).to.equal("a");
        seen.push(sequence);
        if (seen.length === 4) {
          break;
        }
      }
      expect(seen).to.deep.equal([3, 4, 5, 6]);
      expect(members.flatMap(({ calls }) => calls.map(({ request }) => request))).to.deep.equal([
        { logId: LOG, fromSequence: 3n },
        { logId: LOG, fromSequence: 5n },
        { logId: LOG, fromSequence: 5n },
      ]);
      expect(runtime.timers, "remaining timers").to.equal(0);
    });

    it("find their log by its name once, however long no member answers", async () => {
      let asked = 0;
      const client = await connect([
        {
          listLogs: () => {
            asked += 1;
            return asked < 8 ? refuse({ code: "UNAVAILABLE", reason: "NO_LEADER" }) : { logs: [{ logId: LOG }] };
          },
        },
      ]);
      let opened = 0;
      members[0]!.streams.tailEvents = (_request, stream) => {
        opened += 1;
        stream.send({ created: true });
        stream.send(toldOf(opened));
        stream.end();
      };
      const tail = client.logs.tail("orders");
      expect((await tail.next()).value?.sequence).to.equal(1);
      expect((await tail.next()).value?.sequence).to.equal(2);
      await tail.return();
      expect(asked).to.equal(8);
    });

    it("replace a token that is refused, once", async () => {
      let token = "old";
      const tokens: TokenSource = {
        token: () => token,
        refresh: async () => {
          token = "new";
          return token;
        },
      };
      const client = await connect([{}], tokens);
      members[0]!.streams.tailEvents = (_request, _stream, { authorization: [sent] }) =>
        refuse({ code: "UNAUTHENTICATED", reason: sent === "Bearer new" ? "TOKEN_REVOKED" : "TOKEN_EXPIRED" });
      expect(await failure(client.logs.tail(LOG).next())).to.include({ reason: "TOKEN_REVOKED" });
      expect(members[0]?.calls).to.have.length(2);
    });

    it("end with the refusal, and on cancellation", async () => {
      const client = await connect([{}]);
      const [member] = members as [ScriptedMember];
      member.streams.tailEvents = () => refuse({ code: "NOT_FOUND", reason: "LOG_NOT_FOUND" });
      expect(await failure(client.logs.tail(LOG).next())).to.include({ code: "NOT_FOUND", reason: "LOG_NOT_FOUND" });
      member.streams.tailEvents = (_request, stream) => stream.send({ created: true });
      const cancelling = new AbortController();
      const next = client.logs.tail(LOG, { signal: cancelling.signal }).next();
      setImmediate(() => cancelling.abort());
      expect(await failure(next)).to.include({ code: "CANCELLED", message: "the tail was cancelled" });
      const left = client.logs.tail(LOG);
      const waiting = left.next();
      await left.return();
      expect(await waiting).to.deep.equal({ done: true, value: undefined });
    });
  });
});
