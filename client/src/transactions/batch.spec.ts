import type { TransactRequest } from "@quoin/proto";
import { expect } from "chai";
import { failure, refuse, ScriptedMember } from "../../test/index.ts";
import { type BatchPart, type BatchWrite, type Client, createClient } from "../index.ts";

describe("a batch", () => {
  let member: ScriptedMember;
  let client: Client;
  let revision: bigint;

  beforeEach(async () => {
    revision = 0n;
    member = await ScriptedMember.start({ transact: (request) => answer(request) });
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" } });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  function answer({ success }: TransactRequest) {
    revision += 1n;
    return {
      succeeded: true,
      results: success.map(({ put }) => (put === undefined ? { delete: { deleted: true } } : { put: {} })),
      revision,
    };
  }

  function sizes(): number[] {
    return member.callsOf("transact").map(({ request }) => (request as TransactRequest).success.length);
  }

  function puts(count: number, value: string | Uint8Array = ""): BatchWrite[] {
    return Array.from({ length: count }, (_, at) => ({ put: { key: `k${at}`, value } }));
  }

  it("is divided into transactions of at most 10,000 writes, each with its revision", async () => {
    const parts = await client.batch("n", puts(20_001));
    expect(sizes()).to.deep.equal([10_000, 10_000, 1]);
    expect(parts).to.deep.equal([
      { revision: 1, writes: 10_000, deletedKeys: 0 },
      { revision: 2, writes: 10_000, deletedKeys: 0 },
      { revision: 3, writes: 1, deletedKeys: 0 },
    ]);
    expect(await client.batch("n", [])).to.deep.equal([]);
  });

  it("is divided into requests that the service takes", async () => {
    await client.batch("n", puts(9, new Uint8Array(1_024 * 1_024)));
    expect(sizes()).to.deep.equal([3, 3, 3]);
    await client.batch("n", puts(1, new Uint8Array(3.6 * 1_024 * 1_024)));
    expect(sizes()).to.deep.equal([3, 3, 3, 1]);
  });

  it("writes a key that comes twice in two parts, and deletes keys that may be missing", async () => {
    async function* writes(): AsyncGenerator<BatchWrite> {
      yield { put: { key: "a", value: "1", ttlSeconds: 5 } };
      yield { delete: { key: "b" } };
      yield { put: { key: "a", value: "2" } };
    }
    const guard = { lockName: "l", fencingToken: 3 };
    const seen: BatchPart[] = [];
    const parts = await client.batch("n", writes(), { guard, onPart: (part) => seen.push(part) });
    expect(sizes()).to.deep.equal([2, 1]);
    expect(parts.map(({ deletedKeys }) => deletedKeys)).to.deep.equal([1, 0]);
    expect(seen).to.deep.equal(parts);
    const [first] = member.callsOf("transact").map(({ request }) => request as TransactRequest);
    expect(first?.success[0]?.put).to.deep.include({ key: "a", ttlSeconds: 5n });
    expect(first?.success[1]?.delete).to.deep.include({ key: "b", missingOk: true });
    expect(first?.guard).to.deep.include({ lockName: "l", fencingToken: 3n });
  });

  it("takes smaller parts if the values that it replaces are too large", async () => {
    member.scripts.transact = (request) =>
      request.success.length > 3 ? refuse({ code: "INVALID_ARGUMENT", reason: "TOO_LARGE" }) : answer(request);
    const parts = await client.batch("n", puts(10));
    expect(sizes()).to.deep.equal([10, 5, 3, 3, 3, 1]);
    expect(parts.map(({ writes }) => writes)).to.deep.equal([3, 3, 3, 1]);
  });

  it("ends at the first part that fails", async () => {
    member.scripts.transact = (request) =>
      revision === 1n ? refuse({ code: "RESOURCE_EXHAUSTED", reason: "QUOTA" }) : answer(request);
    const seen: BatchPart[] = [];
    const error = await failure(client.batch("n", puts(20_001), { onPart: (part) => seen.push(part) }));
    expect([error.reason, seen.length, sizes().length]).to.deep.equal(["QUOTA", 1, 2]);
    member.scripts.transact = () => refuse({ code: "INVALID_ARGUMENT", reason: "TOO_LARGE" });
    expect((await failure(client.batch("n", puts(1)))).reason).to.equal("TOO_LARGE");
  });

  it("refuses wrong writes and options before it sends a part with them", async () => {
    const write = { put: { key: "k" } } as unknown as BatchWrite;
    expect((await failure(client.batch("n", [write]))).details.get("field")).to.equal("value");
    const nothing = {} as unknown as BatchWrite;
    expect((await failure(client.batch("n", [nothing]))).details.get("field")).to.equal("key");
    const options = { onParts: () => undefined };
    expect((await failure(client.batch("n", [], options as object))).message).to.include("did you mean onPart?");
    expect(member.calls).to.have.length(0);
  });
});
