import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { answerJson, FakeRuntime, failure, type ReceivedRequest, ScriptedHttpMember } from "../../test/index.ts";
import { type Client, createClient, QuoinError } from "../index.ts";
import type { TokenSource } from "../transport/index.ts";

const LOG = "00000000-0000-4000-8000-000000000001";
const STORED = { success: true, sequence: 7 };

type Script = (response: ServerResponse, request: ReceivedRequest, count: number) => void;

const refuse = (status: number, code: string, headers = {}): Script => {
  return (response) => answerJson(response, status, { error: `because ${code}`, code }, headers);
};
const store: Script = (response) => answerJson(response, 200, STORED);
const hangUp: Script = (response) => response.destroy();

/** An event as a stream sends it. */
function told(sequence: number): string {
  const event = { sequence, timestamp: "2026-01-01T00:00:00.000Z", payload: "YQ==", idempotency_key: null };
  return `id: ${sequence}\ndata: ${JSON.stringify(event)}\n\n`;
}

describe("logs of the SDK", () => {
  const members: ScriptedHttpMember[] = [];
  const clients: Client[] = [];
  let runtime: FakeRuntime;

  beforeEach(() => {
    runtime = new FakeRuntime();
    runtime.chance = 0;
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) {
      client.close();
    }
    for (const member of members.splice(0)) {
      await member.stop();
    }
  });

  /** A client of one member for each script; the first one gets the first request. */
  async function connect(scripts: readonly Script[], tokens?: TokenSource): Promise<Client> {
    for (const script of scripts) {
      members.push(await ScriptedHttpMember.start(script));
    }
    const credentials = tokens ?? { token: "token" };
    const httpEndpoints = members.map(({ url }) => url);
    const client = createClient({ endpoints: ["127.0.0.1:1"], httpEndpoints, credentials, runtime });
    clients.push(client);
    return client;
  }

  const keysOf = (requests: readonly ReceivedRequest[]) => requests.map(({ headers }) => headers["idempotency-key"]);

  it("send an append again with its key, at the next member, whatever its outcome", async () => {
    for (const script of [refuse(503, "unavailable"), refuse(504, "timeout"), hangUp]) {
      const client = await connect([script, store]);
      expect(await client.logs.append(LOG, "a")).to.deep.equal({ sequence: 7, replayed: false });
      const [first, second] = members as [ScriptedHttpMember, ScriptedHttpMember];
      expect([first.requests.length, second.requests.length]).to.deep.equal([1, 1]);
      expect(keysOf(first.requests)[0]).to.match(/^[0-9a-f-]{36}$/);
      expect(keysOf(second.requests)).to.deep.equal(keysOf(first.requests));
      expect(String(second.requests[0]?.body)).to.equal("a");
      for (const member of members.splice(0)) {
        await member.stop();
      }
    }
  });

  it("have another key for each append, unless one is given", async () => {
    const client = await connect([store]);
    await client.logs.append(LOG, "a");
    await client.logs.append(LOG, "a");
    await client.logs.append(LOG, "a", { key: "mine" });
    const keys = keysOf(members[0]?.requests ?? []);
    expect([new Set(keys).size, keys[2]]).to.deep.equal([3, "mine"]);
  });

  it("send a key as its UTF-8 bytes, and keep the spaces inside it", async () => {
    const client = await connect([store]);
    for (const key of ["order 7", "grüße 鍵", "é".repeat(512)]) {
      await client.logs.append(LOG, "a", { key });
      const sent = keysOf(members[0]?.requests ?? []).at(-1);
      expect(Buffer.from(String(sent), "latin1").toString()).to.equal(key);
    }
  });

  it("report the missing namespace of a new log as not found", async () => {
    const client = await connect([refuse(404, "not_found")]);
    const missing = await failure(client.logs.create("a", { namespace: "absent" }));
    expect(missing).to.include({ code: "NOT_FOUND", reason: "NOT_FOUND", outcome: "not-executed" });
  });

  it("repeat a request without a key only if it was certainly not executed", async () => {
    const client = await connect([hangUp, store]);
    expect(await failure(client.logs.create("a"))).to.include({ code: "UNAVAILABLE", outcome: "unknown" });
    expect(members[1]?.requests).to.have.length(0);
  });

  it("do not take the refusal of a second attempt as the outcome of the first", async () => {
    for (const refusal of [refuse(409, "sequence_conflict", { "last-sequence": "7" }), refuse(404, "log_not_found")]) {
      const client = await connect([hangUp, refusal]);
      // The first attempt may have stored the event, or may still be on its way.
      const error = await failure(client.logs.append(LOG, "a", { expectedSequence: 6 }));
      expect(error).to.include({ outcome: "unknown" });
      expect(error.reason).to.be.oneOf(["SEQUENCE_CONFLICT", "LOG_NOT_FOUND"]);
      for (const member of members.splice(0)) {
        await member.stop();
      }
    }
    const client = await connect([refuse(503, "unavailable"), refuse(404, "log_not_found")]);
    expect(await failure(client.logs.append(LOG, "a"))).to.include({ outcome: "not-executed" });
  });

  it("wait as long as a rate limit demands", async () => {
    const client = await connect([
      (...call) => (call[2] === 1 ? refuse(429, "rate_limited", { "retry-after": "2" }) : store)(...call),
    ]);
    await client.logs.append(LOG, "a");
    expect(runtime.pausesMs).to.deep.equal([2_000]);
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
    const client = await connect(
      [(...call) => (call[1].headers.authorization === "Bearer new" ? store : refuse(401, "token_expired"))(...call)],
      tokens,
    );
    await client.logs.append(LOG, "a");
    members.unshift(await ScriptedHttpMember.start(refuse(401, "token_revoked")));
    const refused = await connect([], { token: () => "x", refresh: async () => "y" });
    expect(await failure(refused.logs.describe(LOG))).to.include({ code: "UNAUTHENTICATED", reason: "TOKEN_REVOKED" });
  });

  it("retry while there is no new token for some time", async () => {
    let [token, asked] = ["old", 0];
    const next = (): string => {
      asked += 1;
      if (asked < 3) {
        throw new QuoinError({ code: "UNAVAILABLE", outcome: "not-executed", message: "no member" });
      }
      token = "new";
      return token;
    };
    const tokens: TokenSource = { token: () => (asked === 0 ? token : next()), refresh: async () => next() };
    const client = await connect(
      [(...call) => (call[1].headers.authorization === "Bearer new" ? store : refuse(401, "token_expired"))(...call)],
      tokens,
    );
    await client.logs.append(LOG, "a");
    expect([asked, runtime.pausesMs.length]).to.deep.equal([3, 2]);
  });

  it("report the last sequence of a conflict, and a hold that has ended", async () => {
    const client = await connect([refuse(409, "sequence_conflict", { "last-sequence": "41" })]);
    const conflict = await failure(client.logs.append(LOG, "a", { expectedSequence: 40 }));
    expect(conflict).to.include({ code: "FAILED_PRECONDITION", reason: "SEQUENCE_CONFLICT", outcome: "not-executed" });
    expect(conflict.details.get("last_sequence")).to.equal("41");
    expect(members[0]?.requests[0]?.headers["expected-sequence"]).to.equal("40");
    members.unshift(await ScriptedHttpMember.start(refuse(409, "fenced")));
    const fenced = await connect([]);
    const guard = { namespace: "default", lockName: "a/b", fencingToken: 7, rw: true };
    expect(await failure(fenced.logs.append(LOG, "a", { guard }))).to.include({ code: "ABORTED", reason: "FENCED" });
    expect(members[0]?.requests[0]?.headers["lock-guard"]).to.equal("default/a%2Fb;token=7;rw");
  });

  it("refuse invalid arguments before any request", async () => {
    const client = await connect([store]);
    for (const work of [
      ...["", " a", "a ", "a\nb", "\u0085", "\ud800", "é".repeat(513)].map((key) =>
        client.logs.append(LOG, "a", { key }),
      ),
      client.logs.append(LOG, "\ud800"),
      client.logs.append(LOG, "a", { expectedSequence: 2 ** 53 }),
      client.logs.appendBatch(LOG, []),
    ]) {
      expect(await failure(work)).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
    }
    expect(members[0]?.requests).to.have.length(0);
  });

  it("read an event that is as large as the largest batch", async () => {
    const payload = Buffer.alloc(10 * 1024 * 1024, "x");
    const event = { sequence: 3, timestamp: "2026-01-01T00:00:00.000Z", payload: payload.toString("base64") };
    const body = { events: [{ ...event, idempotency_key: "k:0" }], last_sequence: 3 };
    const client = await connect([(response) => answerJson(response, 200, body)]);
    // The deadline is not the subject: a busy machine takes long to send and to decode so much.
    const page = await client.logs.read(LOG, { timeoutMs: 30_000 });
    expect(page.events.map((one) => [one.sequence, payload.equals(one.payload)])).to.deep.equal([[3, true]]);
  });

  it("continue after the last event, at the next member, if a stream ends", async () => {
    const streaming = (...sequences: readonly number[]): Script => {
      return (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const text = `retry: 1000\n\n${sequences.map(told).join("")}: \n\n`;
        // In pieces that end inside an event.
        response.write(text.slice(0, 30));
        response.end(text.slice(30));
      };
    };
    const client = await connect([streaming(3, 4), refuse(503, "unavailable"), streaming(5, 6)]);
    const seen: number[] = [];
    for await (const { sequence, payload } of client.logs.tail(LOG, { fromSequence: 3 })) {
      expect(String.fromCharCode(...payload)).to.equal("a");
      seen.push(sequence);
      if (seen.length === 4) {
        break;
      }
    }
    expect(seen).to.deep.equal([3, 4, 5, 6]);
    const asked = members.map(({ requests }) => requests[0]?.headers["last-event-id"]);
    expect(asked).to.deep.equal(["2", "4", "4"]);
    expect(runtime.timers, "remaining timers").to.equal(0);
  });

  it("end a tail with the refusal, and on cancellation", async () => {
    const client = await connect([refuse(404, "log_not_found")]);
    expect(await failure(client.logs.tail(LOG).next())).to.include({ code: "NOT_FOUND", reason: "LOG_NOT_FOUND" });
    members.unshift(await ScriptedHttpMember.start((response) => response.writeHead(200).write(": \n\n")));
    const cancelling = new AbortController();
    const open = await connect([]);
    const next = open.logs.tail(LOG, { signal: cancelling.signal }).next();
    setImmediate(() => cancelling.abort());
    expect(await failure(next)).to.include({ code: "CANCELLED" });
    const left = open.logs.tail(LOG);
    const waiting = left.next();
    await left.return();
    expect(await waiting).to.deep.equal({ done: true, value: undefined });
  });
});
