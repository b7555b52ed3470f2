import type { ListKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import { ScriptedMember } from "../../test/index.ts";
import { type Client, createClient, QuoinError } from "../index.ts";

const MOST_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

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

describe("KeyValueClient", () => {
  let member: ScriptedMember;
  let client: Client;

  beforeEach(async () => {
    member = await ScriptedMember.start();
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" } });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  async function failure(work: Promise<unknown>): Promise<QuoinError> {
    try {
      await work;
    } catch (error) {
      expect(error).to.be.instanceOf(QuoinError);
      return error as QuoinError;
    }
    throw new Error("the operation succeeded");
  }

  it("creates a namespace", async () => {
    member.scripts.createNamespace = ({ namespace }) => ({ namespace, createdAtMs: MOST_SAFE, revision: 9n });
    expect(await client.keyValue.createNamespace("prod")).to.deep.equal({
      namespace: "prod",
      createdAtMs: Number.MAX_SAFE_INTEGER,
      revision: 9,
    });
    expect(member.request).to.deep.equal({ namespace: "prod" });
  });

  it("deletes a namespace, and waits until nothing of it is left", async () => {
    member.scripts.deleteNamespace = () => ({ revision: 9n });
    expect(await client.keyValue.deleteNamespace("prod")).to.deep.equal({ revision: 9 });
    expect(member.request).to.deep.equal({ namespace: "prod", recursive: false });
    await client.keyValue.deleteNamespace("prod", { recursive: true });
    expect(member.request).to.include({ recursive: true });
    const answers = [
      [{ name: "prod", deleting: true, quotas: [{ name: "keys", used: 7n, limit: 9n }] }],
      [{ name: "prod", deleting: true, quotas: [{ name: "keys", used: 2n, limit: 9n }] }],
      [{ name: "prod-1", deleting: true }],
    ];
    member.scripts.listNamespaces = () => ({ namespaces: answers.shift() ?? [] });
    const left: (number | undefined)[] = [];
    await client.keyValue.untilNamespaceDeleted("prod", { onProgress: ({ quotas }) => left.push(quotas[0]?.used) });
    expect(left).to.deep.equal([7, 2]);
    expect(member.request).to.include({ prefix: "prod", pageSize: 1, namesOnly: false });
  });

  it("waits no longer for a namespace that was created again, nor after the signal aborts", async () => {
    member.scripts.listNamespaces = () => ({ namespaces: [{ name: "prod" }] });
    await client.keyValue.untilNamespaceDeleted("prod");
    member.scripts.listNamespaces = () => ({ namespaces: [{ name: "prod", deleting: true }] });
    const controller = new AbortController();
    const waiting = client.keyValue.untilNamespaceDeleted("prod", {
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    expect((await failure(waiting)).code).to.equal("CANCELLED");
  });

  it("gets a key with its value as a plain Uint8Array and its counts as numbers", async () => {
    member.scripts.getKey = () => ({ ...ENTRY, revision: MOST_SAFE });
    const result = await client.keyValue.get("n", "k");
    expect(member.request).to.deep.equal({ namespace: "n", key: "k", consistency: 0 });
    const { key: _key, ...expected } = PLAIN_ENTRY;
    expect(result).to.deep.equal({ ...expected, revision: Number.MAX_SAFE_INTEGER });
    expect(Buffer.isBuffer(result.value)).to.equal(false);
    await client.keyValue.get("n", "k", { consistency: "serializable" });
    expect(member.request).to.include({ consistency: 1 });
  });

  it("S17: refuses an answer with a count that a number cannot hold, and never rounds", async () => {
    member.scripts.getKey = () => ({ revision: MOST_SAFE + 1n });
    const error = await failure(client.keyValue.get("n", "k"));
    expect(error.code).to.equal("INTERNAL");
    expect(error.message).to.include("revision");
  });

  it("S14: distinguishes an empty value from an absent one", async () => {
    member.scripts.getKey = () => ({ value: new Uint8Array(), modRevision: 5n });
    expect((await client.keyValue.get("n", "k")).value).to.deep.equal(new Uint8Array());
    member.scripts.compareAndSwap = () => ({ success: false, currentExists: true, currentValue: new Uint8Array() });
    expect((await client.keyValue.compareAndSwap("n", "k", "v")).currentValue).to.deep.equal(new Uint8Array());
    expect(member.request).to.include({ expectedValue: undefined });
    member.scripts.compareAndSwap = () => ({ success: false, currentExists: false });
    expect((await client.keyValue.compareAndSwap("n", "k", "v", { expectedValue: "" })).currentValue).to.equal(
      undefined,
    );
    expect(member.request).to.deep.include({ expectedValue: new Uint8Array() });
  });

  it("puts text and bytes, with and without conditions", async () => {
    member.scripts.putKey = () => ({ modRevision: 8n, created: true, previous: ENTRY, revision: 8n });
    const result = await client.keyValue.put("n", "k", "\u{1f600}", {
      ttlSeconds: 60,
      expectedModRevision: 0,
      returnPrevious: true,
    });
    expect(result).to.deep.equal({
      modRevision: 8,
      created: true,
      previous: PLAIN_ENTRY,
      previousValueOmitted: false,
      revision: 8,
    });
    expect(member.request).to.deep.equal({
      namespace: "n",
      key: "k",
      value: new Uint8Array(Buffer.from("\u{1f600}")),
      ttlSeconds: 60n,
      sessionId: 0n,
      expectedModRevision: 0n,
      returnPrevious: true,
      guard: undefined,
    });
    await client.keyValue.put("n", "k", Uint8Array.of(0, 255));
    expect(member.request).to.deep.include({
      value: Uint8Array.of(0, 255),
      ttlSeconds: 0n,
      sessionId: 0n,
      expectedModRevision: undefined,
      returnPrevious: false,
    });
  });

  it("deletes a key", async () => {
    member.scripts.deleteKey = () => ({ deleted: true, previous: ENTRY, revision: 6n });
    const result = await client.keyValue.delete("n", "k", { expectedModRevision: 2, returnPrevious: true });
    expect(result).to.deep.equal({ deleted: true, previous: PLAIN_ENTRY, previousValueOmitted: false, revision: 6 });
    expect(member.request).to.include({ expectedModRevision: 2n, returnPrevious: true });
  });

  it("touches a key, and has no default for its time to live", async () => {
    member.scripts.touchKey = () => ({ modRevision: 2n, expiresInMs: 60_000n, revision: 6n });
    const result = await client.keyValue.touch("n", "k", 60, { expectedModRevision: 2 });
    expect(result).to.deep.equal({ modRevision: 2, expiresInMs: 60_000, revision: 6 });
    expect(member.request).to.deep.equal({
      namespace: "n",
      key: "k",
      ttlSeconds: 60n,
      expectedModRevision: 2n,
      guard: undefined,
    });
    await client.keyValue.touch("n", "k", 0, { guard: { lockName: "l", fencingToken: 7 } });
    expect(member.request).to.deep.include({
      ttlSeconds: 0n,
      expectedModRevision: undefined,
      guard: { lockName: "l", fencingToken: 7n, rw: false, sessionId: undefined },
    });
    const untyped = client.keyValue as unknown as { touch: (namespace: string, key: string) => Promise<unknown> };
    const error = await untyped.touch("n", "k").catch((reason: unknown) => reason);
    expect(String(error)).to.include("ttlSeconds must be a whole number");
    expect(member.calls).to.have.length(2);
  });

  it("swaps with one, both or no expectation", async () => {
    member.scripts.compareAndSwap = ({ newValue }) => ({
      success: true,
      currentExists: true,
      currentValue: newValue,
      modRevision: 3n,
      revision: 3n,
    });
    const both = { expectedValue: Uint8Array.of(1), expectedModRevision: 2, ttlSeconds: 5 };
    expect(await client.keyValue.compareAndSwap("n", "k", "new", both)).to.deep.equal({
      success: true,
      currentExists: true,
      currentValue: new Uint8Array(Buffer.from("new")),
      currentValueOmitted: false,
      modRevision: 3,
      revision: 3,
    });
    expect(member.request).to.deep.include({
      expectedValue: Uint8Array.of(1),
      expectedModRevision: 2n,
      ttlSeconds: 5n,
    });
  });

  it("does not take the missing value of a large replayed answer for an empty one", async () => {
    member.scripts.compareAndSwap = () => ({ currentExists: true, currentValueOmitted: true, modRevision: 3n });
    const failed = await client.keyValue.compareAndSwap("n", "k", "new", { expectedModRevision: 2 });
    expect(failed).to.include({ currentExists: true, currentValue: undefined, currentValueOmitted: true });
    const bare = { ...ENTRY, value: new Uint8Array() };
    member.scripts.putKey = () => ({ previous: bare, previousValueOmitted: true });
    const put = await client.keyValue.put("n", "k", "v", { returnPrevious: true });
    expect(put.previous).to.deep.equal({ ...PLAIN_ENTRY, value: undefined });
    member.scripts.deleteKey = () => ({ previous: bare, previousValueOmitted: true });
    const removed = await client.keyValue.delete("n", "k", { returnPrevious: true });
    expect(removed.previous).to.deep.equal({ ...PLAIN_ENTRY, value: undefined });
  });

  it("lists one page", async () => {
    member.scripts.listKeys = () => ({ items: [ENTRY], nextPageToken: "more", revision: 7n });
    const page = await client.keyValue.list("n", { prefix: "p", pageSize: 5, pageToken: "t", keysOnly: true });
    expect(page).to.deep.equal({ items: [PLAIN_ENTRY], nextPageToken: "more", revision: 7 });
    expect(member.request).to.deep.equal({
      namespace: "n",
      prefix: "p",
      pageSize: 5,
      pageToken: "t",
      keysOnly: true,
      consistency: 0,
    });
  });

  it("counts keys", async () => {
    member.scripts.countKeys = () => ({ keys: 1_000_000n, more: true, revision: 7n });
    expect(await client.keyValue.count("n", { prefix: "p", consistency: "serializable" })).to.deep.equal({
      keys: 1_000_000,
      more: true,
      revision: 7,
    });
    expect(member.request).to.deep.equal({ namespace: "n", prefix: "p", consistency: 1 });
  });

  it("S16: keeps keys that differ only in a leading U+FEFF apart", async () => {
    member.scripts.listKeys = () => ({ items: [{ key: "\ufeffk" }, { key: "k" }] });
    const { items } = await client.keyValue.list("n");
    expect(items.map((item) => item.key)).to.deep.equal(["\ufeffk", "k"]);
  });

  it("reads all pages, each on demand, and each as a separate operation", async () => {
    member.scripts.listKeys = ({ pageToken }: ListKeysRequest) =>
      pageToken === "2" ? { nextPageToken: "" } : { nextPageToken: String(Number(pageToken) + 1) };
    let pages = 0;
    for await (const page of client.keyValue.pages("n", { prefix: "p" })) {
      pages += 1;
      expect(page.items).to.deep.equal([]);
      expect(member.calls).to.have.length(pages);
    }
    expect(member.calls.map((call) => (call.request as ListKeysRequest).pageToken)).to.deep.equal(["", "1", "2"]);
    expect(new Set(member.calls.map((call) => call.requestId[0]))).to.have.property("size", 3);
    for await (const _page of client.keyValue.pages("n")) {
      break;
    }
    expect(member.calls).to.have.length(4);
  });

  it("S16: refuses lone surrogates in every text before anything is sent", async () => {
    const bad = "\ud800";
    const { keyValue } = client;
    for (const [work, field] of [
      [keyValue.createNamespace(bad), "namespace"],
      [keyValue.get(bad, "k"), "namespace"],
      [keyValue.get("n", bad), "key"],
      [keyValue.put("n", "k", bad), "value"],
      [keyValue.delete("n", bad), "key"],
      [keyValue.list("n", { prefix: bad }), "prefix"],
      [keyValue.compareAndSwap("n", "k", bad), "newValue"],
      [keyValue.compareAndSwap("n", "k", "v", { expectedValue: bad }), "expectedValue"],
    ] as const) {
      const error = await failure(work);
      expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD", outcome: "not-executed" });
      expect(error.details.get("field")).to.equal(field);
    }
    expect(member.calls).to.have.length(0);
  });

  it("S17: refuses counts above 2^53 - 1 with the field's name before anything is sent", async () => {
    const bad = 2 ** 53;
    const { keyValue } = client;
    for (const [work, field] of [
      [keyValue.put("n", "k", "v", { ttlSeconds: bad }), "ttlSeconds"],
      [keyValue.put("n", "k", "v", { expectedModRevision: bad }), "expectedModRevision"],
      [keyValue.delete("n", "k", { expectedModRevision: 0.5 }), "expectedModRevision"],
      [keyValue.compareAndSwap("n", "k", "v", { expectedModRevision: bad }), "expectedModRevision"],
      [keyValue.list("n", { pageSize: 2 ** 31 }), "pageSize"],
    ] as const) {
      expect((await failure(work)).details.get("field")).to.equal(field);
    }
    expect(member.calls).to.have.length(0);
  });

  it("S19: keeps __proto__ and constructor as ordinary names", async () => {
    member.scripts.listKeys = () => ({ items: [{ key: "__proto__" }, { key: "constructor" }] });
    const { items } = await client.keyValue.list("__proto__");
    expect(items.map((item) => item.key)).to.deep.equal(["__proto__", "constructor"]);
    expect(member.request).to.include({ namespace: "__proto__" });
  });
});
