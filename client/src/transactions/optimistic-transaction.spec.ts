import type { TransactRequest } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember } from "../../test/index.ts";
import { type Client, createClient, type OptimisticTransaction } from "../index.ts";

const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

describe("client.transact", () => {
  let member: ScriptedMember;
  let client: Client;
  let runtime: FakeRuntime;
  /** What the member has: keys with their values and revisions. */
  let stored: Map<string, { value: string; modRevision: bigint }>;
  /** Commits that are refused because another client was faster. */
  let conflicts: number;

  beforeEach(async () => {
    stored = new Map([
      ["a", { value: "1", modRevision: 5n }],
      ["p/x", { value: "x", modRevision: 6n }],
      ["p/\u{1f600}", { value: "y", modRevision: 7n }],
    ]);
    conflicts = 0;
    runtime = new FakeRuntime();
    member = await ScriptedMember.start({
      getKey: ({ key }) => {
        const found = stored.get(key);
        return found === undefined
          ? refuse({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND" })
          : { value: Buffer.from(found.value), modRevision: found.modRevision, revision: 9n };
      },
      listKeys: ({ prefix, pageToken }) => {
        const items = [...stored].flatMap(([key, { value, modRevision }]) =>
          key.startsWith(prefix) ? [{ key, value: Buffer.from(value), modRevision }] : [],
        );
        return pageToken === ""
          ? { items: items.slice(0, 1), nextPageToken: items.length > 1 ? "2" : "", revision: 9n }
          : { items: items.slice(1), revision: 12n };
      },
      transact: () => {
        conflicts -= 1;
        return conflicts >= 0 ? { succeeded: false, failedCompare: 0 } : { succeeded: true, revision: 20n };
      },
    });
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" }, runtime });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  function commits(): TransactRequest[] {
    return member.callsOf("transact").map(({ request }) => request as TransactRequest);
  }

  const increment = async (transaction: OptimisticTransaction): Promise<number> => {
    const next = Number(text(await transaction.get("a"))) + 1;
    transaction.put("a", String(next));
    return next;
  };

  it("writes what the function has written, if what it has read has not changed", async () => {
    const value = await client.transact("n", async (transaction) => {
      const [one, none] = await Promise.all([transaction.get("a"), transaction.get("absent")]);
      transaction.put("b", `${text(one)} ${none}`, { ttlSeconds: 5 });
      transaction.delete("a");
      transaction.append("L", "event", { key: "i" });
      return text(one);
    });
    expect(value).to.equal("1");
    const [{ compare, success, failure: other } = commits()[0]!] = commits();
    expect(compare.map(({ key }) => [key?.key, key?.operator, key?.modRevision])).to.have.deep.members([
      ["a", 0, 5n],
      ["absent", 0, 0n],
    ]);
    expect(success.map((operation) => Object.values(operation).find((one) => one !== undefined))).to.deep.equal([
      {
        key: "b",
        value: new Uint8Array(Buffer.from("1 undefined")),
        ttlSeconds: 5n,
        sessionId: 0n,
        expectedModRevision: undefined,
        returnPrevious: false,
      },
      { key: "a", expectedModRevision: undefined, returnPrevious: false, missingOk: true },
      {
        logId: "L",
        payloads: [new Uint8Array(Buffer.from("event"))],
        idempotencyKey: "i",
        expectedSequence: undefined,
      },
    ]);
    expect(other).to.deep.equal([]);
    expect(member.callsOf("getKey").every(({ request }) => (request as { consistency: number }).consistency === 0));
  });

  it("reads each key once, and sees its own writes", async () => {
    const seen = await client.transact("n", async (transaction) => {
      const before = [await transaction.get("a"), await transaction.get("a")];
      transaction.put("a", "mine");
      const written = await transaction.get("a");
      transaction.delete("a");
      return [...before, written, await transaction.get("a")].map(text);
    });
    expect(seen).to.deep.equal(["1", "1", "mine", undefined]);
    expect(member.callsOf("getKey")).to.have.length(1);
    expect(commits()[0]?.success).to.have.length(1);
  });

  it("lists all pages in the order of UTF-8 with its own writes, and protects the prefix from the first page on", async () => {
    const seen = await client.transact("n", async (transaction) => {
      transaction.put("p/\uffee", "new");
      transaction.put("q", "elsewhere");
      const all = await transaction.list("p/");
      transaction.delete("p/x");
      const left = await transaction.list("p/");
      return [all, left, [{ key: "p/x", value: await transaction.get("p/x") }]].map((list) =>
        list.map(({ key, value }) => `${key} ${text(value)}`),
      );
    });
    expect(seen).to.deep.equal([
      ["p/x x", "p/\uffee new", "p/\u{1f600} y"],
      ["p/\uffee new", "p/\u{1f600} y"],
      ["p/x undefined"],
    ]);
    expect(commits()[0]?.compare).to.have.length(1);
    expect(commits()[0]?.compare[0]?.prefix).to.deep.equal({ prefix: "p/", unchangedSince: 9n });
    await client.transact("n", async (transaction) => {
      await transaction.list("p/");
      expect([await transaction.get("p/x"), await transaction.get("p/absent")].map(text)).to.deep.equal([
        "x",
        undefined,
      ]);
    });
    expect(member.callsOf("getKey"), "the prefix protects its keys").to.have.length(0);
  });

  it("runs the function again, after a pause, if another client was faster", async () => {
    conflicts = 2;
    member.scripts.getKey = () => {
      const value = Buffer.from(String(10 + member.callsOf("getKey").length));
      return { value, modRevision: 5n };
    };
    expect(await client.transact("n", increment)).to.equal(14);
    expect(runtime.pausesMs).to.deep.equal([25, 50]);
    const ids = member.callsOf("transact").map(({ requestId }) => requestId[0]);
    expect(new Set(ids).size).to.equal(3);
  });

  it("gives up after ten attempts or at the deadline, with an error of its own", async () => {
    conflicts = 1_000;
    const error = await failure(client.transact("n", increment, { timeoutMs: 60_000 }));
    expect(error).to.include({ code: "ABORTED", reason: "TRANSACTION_CONFLICT", outcome: "not-executed" });
    expect(error.details.get("attempts")).to.equal("10");
    expect(error.message).to.include("the key a");
    const commit = member.scripts.transact!;
    member.scripts.transact = (request, call) => {
      if (commits().length === 14) {
        // What is left is shorter than the pause of 200 ms that would follow.
        runtime.advance(60_000 - 25 - 50 - 100 - 199);
      }
      return commit(request, call);
    };
    const late = await failure(client.transact("n", increment, { timeoutMs: 60_000 }));
    expect([late.reason, late.details.get("attempts")]).to.deep.equal(["TRANSACTION_CONFLICT", "4"]);
    const once = await failure(client.transact("n", (transaction) => transaction.list("p/"), { maxAttempts: 1 }));
    expect(once.message).to.include("keys with the prefix p/ in the last of 1 attempts");
  });

  it("checks the reads of a function that writes nothing, and sends nothing for one that does nothing", async () => {
    expect(text(await client.transact("n", (transaction) => transaction.get("a")))).to.equal("1");
    expect(commits()).to.have.length(1);
    expect(commits()[0]).to.deep.include({ success: [], failure: [] });
    expect(await client.transact("n", () => 7)).to.equal(7);
    expect(commits()).to.have.length(1);
  });

  it("passes on what the function throws, and writes nothing then", async () => {
    const thrown = new Error("not enough money");
    const work = client.transact("n", (transaction) => {
      transaction.put("a", "0");
      throw thrown;
    });
    expect(await work.catch((error: unknown) => error)).to.equal(thrown);
    member.scripts.getKey = () => refuse({ code: "NOT_FOUND", reason: "NAMESPACE_NOT_FOUND" });
    expect((await failure(client.transact("n", increment))).reason).to.equal("NAMESPACE_NOT_FOUND");
    expect(member.callsOf("transact")).to.have.length(0);
  });

  it("does not run the function again if the outcome of the commit is unknown", async () => {
    member.scripts.transact = () => refuse({ code: "INTERNAL", outcome: "unknown" });
    const error = await failure(client.transact("n", increment));
    expect([error.outcome, member.callsOf("transact").length]).to.deep.equal(["unknown", 1]);
    expect(error.requestId).to.match(/^[0-9a-f-]{36}$/);
  });

  it("ends with its signal, in a call and in a pause, and at its deadline", async () => {
    conflicts = 1_000;
    const controller = new AbortController();
    const { signal } = controller;
    member.scripts.transact = () => {
      controller.abort(new Error("enough"));
      return { succeeded: false, failedCompare: 0 };
    };
    const error = await failure(client.transact("n", increment, { signal }));
    expect(error.code).to.equal("CANCELLED");
    expect((await failure(client.transact("n", increment, { signal }))).code).to.equal("CANCELLED");
    const late = client.transact("n", async (transaction) => {
      runtime.advance(6_000);
      await transaction.get("a");
    });
    expect((await failure(late)).reason).to.equal("DEADLINE");
  });

  it("refuses wrong options, and writes after its end", async () => {
    expect((await failure(client.transact("n", increment, { maxAttempts: 0 }))).message).to.include("1 or more");
    const options = { requestId: "a" } as object;
    expect((await failure(client.transact("n", increment, options))).message).to.include("requestId is not an option");
    const none = undefined as unknown as () => void;
    expect((await failure(client.transact("n", none))).message).to.include("work must be a function");
    let kept: OptimisticTransaction | undefined;
    await client.transact("n", (transaction) => {
      kept = transaction;
      const put = transaction.put.bind(transaction) as (key: string, value: unknown) => void;
      expect(() => put("k", 5)).to.throw("value must be a string or a Uint8Array");
    });
    expect(() => kept?.put("a", "late")).to.throw("has ended");
    expect((await failure(kept!.get("a"))).message).to.include("has ended");
  });

  it("takes a guard for the commit", async () => {
    await client.transact("n", increment, { guard: { lockName: "l", fencingToken: 4 } });
    expect(commits()[0]?.guard).to.deep.equal({ lockName: "l", fencingToken: 4n, rw: false, sessionId: undefined });
  });
});
