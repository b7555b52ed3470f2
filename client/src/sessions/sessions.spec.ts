import { expect } from "chai";
import { FakeRuntime, failure, type Refusal, refuse, ScriptedMember, until } from "../../test/index.ts";
import { type Client, type CreateSessionOptions, createClient, type QuoinError, type SessionHandle } from "../index.ts";

const TTL_MS = 30_000;
const NO_LEADER: Refusal = { code: "UNAVAILABLE", reason: "NO_LEADER", outcome: "not-executed" };

interface RenewRequest {
  readonly namespace: string;
  readonly sessions: readonly { readonly sessionId: bigint }[];
}

describe("sessions of the SDK", function () {
  // Usually milliseconds: a limit for a busy machine.
  this.timeout(60_000);

  let member: ScriptedMember;
  let client: Client;
  let runtime: FakeRuntime;
  /** Lives in milliseconds by id; a session that is not there has ended. */
  const lives = new Map<bigint, bigint>();

  beforeEach(async () => {
    lives.clear();
    runtime = new FakeRuntime();
    runtime.chance = 0;
    member = await ScriptedMember.start({
      createSession: (request) => {
        const sessionId = BigInt(lives.size + 7);
        const expiresInMs = request.ttlSeconds * 1_000n;
        lives.set(sessionId, expiresInMs);
        return { sessionId, expiresInMs, revision: sessionId };
      },
      renewSessions: ({ sessions }) => ({
        sessions: sessions.map(({ sessionId }) => ({ sessionId, expiresInMs: lives.get(sessionId) ?? 0n })),
        revision: 9n,
      }),
      endSession: () => ({ endedObjects: 2n, revision: 9n }),
    });
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" }, runtime });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  const open = (options: CreateSessionOptions = {}, namespace = "n"): Promise<SessionHandle> =>
    client.session(namespace, options);

  /** What was renewed, call by call. */
  function renewals(): { readonly namespace: string; readonly ids: readonly number[] }[] {
    return member.callsOf("renewSessions").map(({ request }) => {
      const { namespace, sessions } = request as RenewRequest;
      return { namespace, ids: sessions.map(({ sessionId }) => Number(sessionId)) };
    });
  }

  describe("as single operations", () => {
    it("are created, with a time to live of 30 s unless said otherwise", async () => {
      expect(await client.sessions.create("n")).to.deep.equal({ sessionId: 7, expiresInMs: TTL_MS, revision: 7 });
      await client.sessions.create("n", { ttlSeconds: 2, owner: "o", metadata: "m" });
      const [first, second] = member.callsOf("createSession").map(({ request }) => request);
      expect(first).to.deep.include({ namespace: "n", ttlSeconds: 30n, owner: "", metadata: Buffer.alloc(0) });
      expect(second).to.deep.include({ ttlSeconds: 2n, owner: "o", metadata: Buffer.from("m") });
    });

    it("are renewed, several in one call, and an ended one is no error", async () => {
      lives.set(1n, 5_000n);
      expect(await client.sessions.renew("n", [1, 2])).to.deep.equal([
        { sessionId: 1, expiresInMs: 5_000 },
        { sessionId: 2, expiresInMs: 0 },
      ]);
    });

    it("are ended, by force if asked", async () => {
      expect(await client.sessions.end("n", 7)).to.deep.equal({ endedObjects: 2, revision: 9 });
      await client.sessions.end("n", 7, { force: true });
      expect(member.callsOf("endSession").map(({ request }) => request)).to.deep.equal([
        { namespace: "n", sessionId: 7n, force: false },
        { namespace: "n", sessionId: 7n, force: true },
      ]);
    });

    it("are described and listed", async () => {
      const session = {
        sessionId: 7n,
        owner: "o",
        subject: "u",
        metadata: Buffer.from("m"),
        ttlSeconds: 10n,
        expiresInMs: 9_000n,
        createdAtMs: 5n,
        objects: 1n,
      };
      const plain = {
        sessionId: 7,
        owner: "o",
        subject: "u",
        metadata: new Uint8Array(Buffer.from("m")),
        ttlSeconds: 10,
        expiresInMs: 9_000,
        createdAtMs: 5,
        objects: 1,
      };
      member.scripts.describeSession = () => ({
        session,
        keys: ["k"],
        holds: [{ lockName: "l", fencingToken: 6n }],
        revision: 8n,
      });
      member.scripts.listSessions = () => ({ items: [session], nextPageToken: "t", revision: 8n });
      expect(await client.sessions.describe("n", 7)).to.deep.equal({
        ...plain,
        keys: ["k"],
        holds: [{ lockName: "l", fencingToken: 6, rw: false }],
        revision: 8,
      });
      expect(await client.sessions.list("n", { pageSize: 1, pageToken: "p" })).to.deep.equal({
        items: [plain],
        nextPageToken: "t",
        revision: 8,
      });
      expect(member.callsOf("listSessions")[0]?.request).to.deep.include({ pageSize: 1, pageToken: "p" });
      member.scripts.describeSession = () => ({});
      expect((await failure(client.sessions.describe("n", 7))).code).to.equal("INTERNAL");
    });

    it("are checked before they are sent", async () => {
      const wrong = [
        () => client.sessions.create("n", { ttlSeconds: 0.5 }),
        () => client.sessions.renew("n", [1, -1.5]),
        () => client.session("n", { ttl: 3 } as CreateSessionOptions),
        () => client.sessions.end("n", 7, { force: 1 as unknown as boolean }),
      ];
      for (const send of wrong) {
        expect((await failure(send())).reason, String(send)).to.equal("BAD_FIELD");
      }
      expect(member.calls).to.deep.equal([]);
    });
  });

  it("live from before the request, and are renewed whenever a third of their life has passed", async () => {
    const session = await open();
    expect(session).to.include({ namespace: "n", id: 7, isLive: true, remainingMs: TTL_MS });
    for (const round of [1, 2, 3]) {
      expect(runtime.nextTimerMs).to.equal(TTL_MS / 3);
      runtime.advance(TTL_MS / 3);
      await until("a renewal", () => session.remainingMs === TTL_MS);
      expect(renewals()).to.have.length(round);
    }
    expect(session.lost.aborted).to.equal(false);
  });

  it("are renewed up to a tenth earlier by chance, so that clients do not call together", async () => {
    runtime.chance = 0.999_999_999;
    await open();
    expect(runtime.nextTimerMs).to.be.closeTo(9_000, 0.1);
  });

  it("of one namespace are renewed by one call, also those that are due soon", async () => {
    const sessions: SessionHandle[] = [];
    for (let at = 0; at < 4; at++) {
      sessions.push(await open());
      runtime.advance(1_000);
    }
    const elsewhere = await open({}, "other");
    const long = await open({ ttlSeconds: 3_600 });
    runtime.advance(6_000);
    await until("a renewal", () => sessions.every(({ remainingMs }) => remainingMs === TTL_MS));
    expect(renewals()).to.deep.equal([{ namespace: "n", ids: sessions.map(({ id }) => id) }]);
    runtime.advance(4_000);
    await until("the other one", () => elsewhere.remainingMs === TTL_MS);
    expect(renewals()).to.have.length(2);
    expect(long.remainingMs).to.equal(3_590_000);
  });

  it("are renewed by several calls beyond 500, as fast as a member takes them: 500 in 100 ms", async () => {
    const opened = Array.from({ length: 1_001 }, () => open());
    const sessions = await Promise.all(opened);
    const renewed = (): number => sessions.filter(({ remainingMs }) => remainingMs > TTL_MS - 1_000).length;
    runtime.advance(TTL_MS / 3);
    await until("the first renewal", () => renewed() === 500);
    runtime.advance(99);
    expect(renewals()).to.have.length(1);
    runtime.advance(1);
    await until("the second renewal", () => renewed() === 1_000);
    runtime.advance(100);
    await until("the third renewal", () => renewed() === 1_001);
    expect(renewals().map(({ ids }) => ids.length)).to.deep.equal([500, 500, 1]);
    expect(new Set(renewals().flatMap(({ ids }) => ids)).size).to.equal(1_001);
  });

  it("S30: survive a time without a leader", async () => {
    const session = await open();
    member.scripts.renewSessions = ({ sessions }) =>
      member.callsOf("renewSessions").length <= 20
        ? refuse(NO_LEADER)
        : { sessions: sessions.map(({ sessionId }) => ({ sessionId, expiresInMs: BigInt(TTL_MS) })) };
    runtime.advance(TTL_MS / 3);
    await until("a renewal", () => session.remainingMs === TTL_MS);
    expect(session.lost.aborted).to.equal(false);
  });

  it("S23, S30: are lost at their deadline and not before if no leader is found until then", async () => {
    const session = await open();
    const deadlineMs = runtime.nowMs + TTL_MS;
    // Pauses between tries take time.
    runtime.chance = 0.5;
    member.scripts.renewSessions = () => refuse(NO_LEADER);
    let lostAtMs = 0;
    session.lost.addEventListener("abort", () => {
      lostAtMs = runtime.nowMs;
    });
    runtime.advance(TTL_MS / 3);
    // Between two rounds of tries, with timers for the next round and the end, time passes as usual.
    await until("the loss", () => {
      if (runtime.timers > 1) {
        runtime.advance(runtime.nextTimerMs ?? 0);
      }
      return lostAtMs > 0;
    });
    expect(lostAtMs).to.be.at.least(deadlineMs);
    const reason = session.lost.reason as QuoinError;
    expect(reason).to.include({ code: "FAILED_PRECONDITION", reason: "SESSION_LOST" });
    expect((reason.cause as QuoinError).reason).to.be.oneOf(["NO_LEADER", "DEADLINE"]);
    expect(reason.details.get("session_id")).to.equal("7");
    expect(session).to.include({ isLive: false, remainingMs: 0 });
    expect(await session.end(), "there is nothing to end").to.equal(false);
    expect(member.callsOf("endSession")).to.deep.equal([]);
  });

  it("S30: show their loss at once to a process that was busy beyond the deadline", async () => {
    const session = await open();
    runtime.nowMs += TTL_MS - 1;
    expect(session.lost.aborted).to.equal(false);
    runtime.nowMs += 1;
    expect(session.lost.aborted).to.equal(true);
    expect(() => session.lost.throwIfAborted()).to.throw("it was not renewed in time");
  });

  it("are lost at once if the service has no such session, and the others go on", async () => {
    const [ended, other] = [await open(), await open()];
    lives.delete(BigInt(ended.id));
    runtime.advance(TTL_MS / 3);
    await until("the loss", () => ended.lost.aborted);
    expect((ended.lost.reason as QuoinError).message).to.include("the service has no such session of this user");
    await until("the renewal", () => other.remainingMs === TTL_MS);
    runtime.advance(TTL_MS / 3);
    await until("another renewal", () => renewals().length === 2);
    expect(renewals()[1]?.ids).to.deep.equal([other.id]);
  });

  it("are not renewed any more by a caller without the right", async () => {
    const session = await open();
    member.scripts.renewSessions = () => refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" });
    runtime.advance(TTL_MS / 3);
    await until("the renewal", () => runtime.timers === 1 && renewals().length === 1);
    // The client has the refusal before the answer to a later call.
    member.scripts.listSessions = () => ({});
    await client.sessions.list("n");
    runtime.advance((TTL_MS * 2) / 3);
    expect(((session.lost.reason as QuoinError).cause as QuoinError).reason).to.equal("ACCESS_DENIED");
    expect(renewals()).to.have.length(1);
  });

  it("ask another member when one takes a renewal and does not answer", async () => {
    const fit = await ScriptedMember.start({
      renewSessions: ({ sessions }) => ({ sessions: sessions.map((one) => ({ ...one, expiresInMs: 3_000n })) }),
    });
    const both = createClient({ endpoints: [member.endpoint, fit.endpoint], credentials: { token: "t" }, runtime });
    const session = await both.session("n", { ttlSeconds: 3 });
    member.scripts.renewSessions = () => new Promise(() => undefined);
    runtime.advance(1_000);
    await until("a renewal", () => session.remainingMs === 3_000);
    expect(fit.callsOf("renewSessions")[0]?.requestId).to.deep.equal(member.callsOf("renewSessions")[0]?.requestId);
    both.close();
    fit.stop();
  });

  it("are ended once, and are not lost by that", async () => {
    const session = await open();
    expect(await Promise.all([session.end(), session.end()])).to.deep.equal([true, true]);
    expect(await session.end()).to.equal(true);
    expect(member.callsOf("endSession").map(({ request }) => request)).to.deep.equal([
      { namespace: "n", sessionId: 7n, force: false },
    ]);
    expect(session).to.include({ isLive: false, remainingMs: 0 });
    expect(session.lost.aborted).to.equal(false);
    runtime.advance(TTL_MS);
    expect(renewals()).to.deep.equal([]);
  });

  it("may be ended again if no member has answered, with the same request id", async () => {
    const session = await open();
    member.scripts.endSession = () => refuse({ code: "INTERNAL", reason: "INTERNAL" });
    expect((await failure(session.end())).code).to.equal("INTERNAL");
    member.scripts.endSession = () => ({});
    expect(await session.end()).to.equal(true);
    const ids = member.callsOf("endSession").map(({ requestId }) => requestId[0]);
    expect(new Set(ids)).to.have.property("size", 1);
  });

  it("are lost if they had ended before their client ended them", async () => {
    const session = await open();
    member.scripts.endSession = () => refuse({ code: "NOT_FOUND", reason: "SESSION_NOT_FOUND" });
    expect(await session.end()).to.equal(false);
    expect((session.lost.reason as QuoinError).reason).to.equal("SESSION_LOST");
  });

  it("end at the end of a block, and a failure of that is not one of the block", async () => {
    {
      await using session = await open();
      expect(session.isLive).to.equal(true);
    }
    expect(member.callsOf("endSession")).to.have.length(1);
    member.scripts.endSession = () => refuse({ code: "INTERNAL", reason: "INTERNAL" });
    {
      await using _session = await open();
    }
    expect(member.callsOf("endSession")).to.have.length(2);
  });

  it("have keys by puts, swaps, transactions and batches, and are compared in conditions", async () => {
    const session = await open();
    const { id: sessionId } = session;
    member.scripts.putKey = () => ({});
    member.scripts.compareAndSwap = () => ({ success: true });
    member.scripts.transact = () => ({ succeeded: true, results: [{ put: {} }] });
    await client.keyValue.put("n", "k", "v", { sessionId });
    await client.keyValue.compareAndSwap("n", "k", "v", { sessionId });
    await client
      .transaction("n")
      .if({ sessionId }, { key: { key: "k", sessionId } })
      .then({ put: { key: "k", value: "v", sessionId } })
      .commit();
    await client.transact("n", (transaction) => transaction.put("k", "v", { sessionId }));
    await client.batch("n", [{ put: { key: "k", value: "v", sessionId } }]);
    expect(member.callsOf("putKey")[0]?.request).to.deep.include({ sessionId: 7n });
    expect(member.callsOf("compareAndSwap")[0]?.request).to.deep.include({ sessionId: 7n });
    const sent = member.callsOf("transact").map(({ request }) => request as SentTransaction);
    expect(sent.map(({ success }) => success[0]?.put.sessionId)).to.deep.equal([7n, 7n, 7n]);
    expect(sent[0]?.compare.map(({ sessionId: live, key }) => [live, key?.sessionId])).to.deep.equal([
      [7n, undefined],
      [undefined, 7n],
    ]);
  });
});

interface SentTransaction {
  readonly compare: readonly { readonly sessionId?: bigint; readonly key?: { readonly sessionId?: bigint } }[];
  readonly success: readonly { readonly put: { readonly sessionId: bigint } }[];
}
