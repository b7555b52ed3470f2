import type { TransactRequest } from "@quoin/proto";
import { expect } from "chai";
import { failure, refuse, ScriptedMember } from "../../test/index.ts";
import { type Client, createClient, type TransactedEntry, type TransactionOperation } from "../index.ts";

const ENTRY = {
  key: "k",
  value: Buffer.from("old"),
  createRevision: 1n,
  modRevision: 2n,
  version: 3n,
  expiresInMs: 4n,
};
const PLAIN_ENTRY = {
  key: "k",
  value: new Uint8Array(Buffer.from("old")),
  createRevision: 1,
  modRevision: 2,
  version: 3,
  sessionId: 0,
  expiresInMs: 4,
};

describe("a transaction", () => {
  let member: ScriptedMember;
  let client: Client;

  beforeEach(async () => {
    member = await ScriptedMember.start({});
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" } });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  function request(): TransactRequest {
    return member.callsOf("transact").at(-1)?.request as TransactRequest;
  }

  it("sends its conditions and both lists of operations, with text and bytes as values", async () => {
    member.scripts.transact = () => ({ succeeded: true, revision: 7n });
    const guard = { lockName: "l", fencingToken: 9 };
    await client
      .transaction("n")
      .if({ key: { key: "a", exists: true } }, { key: { key: "b", operator: "GREATER", modRevision: 3 } })
      .if({ key: { key: "c", value: "v" } }, { prefix: { prefix: "p/", unchangedSince: 5 } })
      .if({ hold: guard }, { log: { logId: "L", operator: "LESS", lastSequence: 0 } })
      .then({ put: { key: "a", value: "é", ttlSeconds: 60 } }, { delete: { key: "b", missingOk: true } })
      .then({ append: { logId: "L", payloads: ["x", Uint8Array.of(0)], idempotencyKey: "i" } })
      .else({ list: { prefix: "p/", limit: 5 } })
      .commit({ guard });
    const sent = request();
    const wireGuard = { lockName: "l", fencingToken: 9n, rw: false, sessionId: undefined };
    expect(sent.namespace).to.equal("n");
    expect(sent.guard).to.deep.equal(wireGuard);
    expect(sent.compare.map(({ key }) => key?.key)).to.deep.equal(["a", "b", "c", undefined, undefined, undefined]);
    expect(sent.compare[0]?.key).to.deep.include({ operator: 0, exists: true, modRevision: undefined });
    expect(sent.compare[1]?.key).to.deep.include({ operator: 3, modRevision: 3n });
    expect(sent.compare[2]?.key?.value).to.deep.equal(new Uint8Array(Buffer.from("v")));
    expect(sent.compare[3]?.prefix).to.deep.equal({ prefix: "p/", unchangedSince: 5n });
    expect(sent.compare[4]?.hold).to.deep.equal(wireGuard);
    expect(sent.compare[5]?.log).to.deep.equal({ logId: "L", operator: 2, lastSequence: 0n });
    expect(sent.success[0]?.put).to.deep.equal({
      key: "a",
      value: new Uint8Array(Buffer.from("é")),
      ttlSeconds: 60n,
      sessionId: 0n,
      expectedModRevision: undefined,
      returnPrevious: false,
    });
    expect(sent.success[1]?.delete).to.deep.include({ key: "b", missingOk: true });
    expect(sent.success[2]?.append).to.deep.include({
      payloads: [new Uint8Array(Buffer.from("x")), Uint8Array.of(0)],
      expectedSequence: undefined,
    });
    expect(sent.failure[0]?.list).to.deep.equal({ prefix: "p/", limit: 5, startAfter: "", keysOnly: false });
  });

  it("has a result for each operation, of its type", async () => {
    member.scripts.transact = () => ({
      succeeded: true,
      results: [
        { put: { created: false, previous: ENTRY } },
        { increment: { value: 2n ** 63n - 1n, created: true } },
        { get: {} },
        { list: { items: [ENTRY], more: true } },
        { readMemory: { data: Uint8Array.of(1), version: 8n } },
        { append: { runs: [{ firstSequence: 4n, count: 2n }], lastSequence: 5n } },
        { transaction: { succeeded: false, failedCompare: 0, results: [{ deletePrefix: { deletedKeys: 6n } }] } },
      ],
      revision: 7n,
    });
    const { succeeded, results, failedCompare, valuesOmitted, revision } = await client
      .transaction("n")
      .then(
        { put: { key: "k", value: "v", returnPrevious: true } },
        { increment: { key: "i", delta: -1n } },
        { get: { key: "g" } },
        { list: { prefix: "" } },
        { readMemory: { regionId: "r", offset: 0, length: 1 } },
        { append: { logId: "l", payloads: ["a", "b"] } },
        {
          transaction: {
            compare: [{ key: { key: "k", exists: false } }],
            success: [{ get: { key: "k" } }],
            failure: [{ deletePrefix: { prefix: "x" } }],
          },
        },
      )
      .commit();
    const previous: TransactedEntry | undefined = results[0].previous;
    const sum: bigint = results[1].value;
    const nested = results[6];
    const deleted: number = nested.succeeded ? 0 : nested.results[0].deletedKeys;
    expect([succeeded, failedCompare, valuesOmitted, revision]).to.deep.equal([true, undefined, false, 7]);
    expect([previous, sum, deleted]).to.deep.equal([PLAIN_ENTRY, 2n ** 63n - 1n, 6]);
    expect(results[2].kv).to.equal(undefined);
    expect(results[3]).to.deep.equal({ items: [PLAIN_ENTRY], more: true });
    expect(results[4]).to.deep.equal({ data: Uint8Array.of(1), version: 8 });
    expect(results[5]).to.deep.equal({ runs: [{ firstSequence: 4, count: 2 }], lastSequence: 5 });
    expect(request().success[1]?.increment).to.deep.equal({ key: "i", delta: -1n, ttlSeconds: 0n });
  });

  it("names the condition that was not true, and has the results of the other operations", async () => {
    member.scripts.transact = () => ({ succeeded: false, failedCompare: 1, results: [{ get: { kv: ENTRY } }] });
    const base = client.transaction("n").if({ key: { key: "a", exists: true } }, { key: { key: "b", version: 1 } });
    const result = await base
      .then({ put: { key: "a", value: "" } })
      .else({ get: { key: "k" } })
      .commit();
    if (result.succeeded) {
      throw new Error("the condition was true");
    }
    expect([result.failedCompare, result.results[0].kv]).to.deep.equal([1, PLAIN_ENTRY]);
    await base.commit();
    expect(request().success, "each method returns a new transaction").to.deep.equal([]);
  });

  it("shows omitted values as undefined, not as empty ones", async () => {
    const empty = { ...ENTRY, value: new Uint8Array() };
    member.scripts.transact = () => ({
      succeeded: true,
      valuesOmitted: true,
      results: [{ get: { kv: empty } }, { readMemory: { version: 3n } }, { put: { previous: empty } }],
    });
    const { valuesOmitted, results } = await client
      .transaction("n")
      .then({ get: { key: "k" } }, { readMemory: { regionId: "r", offset: 0, length: 1 } })
      .then({ put: { key: "k", value: "", returnPrevious: true } })
      .commit();
    expect(valuesOmitted).to.equal(true);
    expect(results[0].kv).to.deep.equal({ ...PLAIN_ENTRY, value: undefined });
    expect(results[1]).to.deep.equal({ data: undefined, version: 3 });
    expect(results[2].previous?.value).to.equal(undefined);
  });

  it("repeats a lost attempt with the same request id", async () => {
    let attempts = 0;
    member.scripts.transact = () => {
      attempts += 1;
      return attempts === 1 ? refuse({ code: "UNAVAILABLE", outcome: "unknown" }) : { succeeded: true, revision: 4n };
    };
    const { revision } = await client
      .transaction("n")
      .then({ get: { key: "k" } })
      .commit();
    const [first, second] = member.callsOf("transact");
    expect([revision, first?.requestId]).to.deep.equal([4, second?.requestId]);
  });

  it("raises the error of an operation, which names the operation, and ends with its signal", async () => {
    const details = new Map([["operation", "success[0]"]]);
    member.scripts.transact = () => refuse({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND", details });
    const transaction = client.transaction("n").then({ delete: { key: "k" } });
    const refused = await failure(transaction.commit());
    expect([refused.reason, refused.details.get("operation")]).to.deep.equal(["KEY_NOT_FOUND", "success[0]"]);
    const { code } = await failure(transaction.commit({ signal: AbortSignal.abort() }));
    expect(code).to.equal("CANCELLED");
  });

  const wrong: readonly (readonly [operation: unknown, field: string, message: string])[] = [
    [{ put: { key: "k" } }, "success[0].put.value", "is missing"],
    [{ put: { key: "k", value: "", ttlSecond: 1 } }, "success[0].put.ttlSecond", "did you mean ttlSeconds?"],
    [{ put: { key: "\ud800", value: "" } }, "success[0].put.key", "has a lone surrogate"],
    [{ increment: { key: "k", delta: 2n ** 53n } }, "success[0].increment.delta", "must be a whole number within"],
    [{ increment: { key: "k", delta: 0.5 } }, "success[0].increment.delta", "must be a whole number within"],
    [{ get: { key: "k" }, list: { prefix: "" } }, "success[0]", "it has get and list"],
    [{}, "success[0]", "must have exactly one of put, delete, "],
    [{ del: { key: "k" } }, "success[0].del", "is not an option of success[0]"],
    [
      { transaction: { success: [{ touch: { key: "k" } }] } },
      "success[0].transaction.success[0].touch.ttlSeconds",
      "is",
    ],
    ["put k v", "success[0]", "must be an object"],
  ];
  for (const [operation, field, message] of wrong) {
    it(`refuses ${String(JSON.stringify(operation, (_, value) => (typeof value === "bigint" ? `${value}` : value)))}`, async () => {
      const error = await failure(
        client
          .transaction("n")
          .then(operation as TransactionOperation)
          .commit(),
      );
      expect([error.reason, error.details.get("field"), error.outcome]).to.deep.equal([
        "BAD_FIELD",
        field,
        "not-executed",
      ]);
      expect(error.message).to.include(message);
      expect(member.calls).to.have.length(0);
    });
  }

  it("refuses wrong conditions and options", async () => {
    const operator = "equal" as "EQUAL";
    const condition = client.transaction("n").if({ key: { key: "k", operator, version: 1 } });
    expect((await failure(condition.commit())).message).to.include('compare[0].key.operator must be "EQUAL" or');
    const options = { timeout: 1 } as object;
    expect((await failure(client.transaction("n").commit(options))).message).to.include("did you mean timeoutMs?");
    expect(() => client.transaction(7 as unknown as string)).to.throw("namespace must be a string");
  });

  it("says that commit is missing if it is awaited itself", async () => {
    // TypeScript refuses this, too.
    const transaction = client.transaction("n").then({ get: { key: "k" } }) as unknown as PromiseLike<never>;
    expect((await failure(Promise.resolve(transaction))).message).to.include("await commit()");
  });
});
