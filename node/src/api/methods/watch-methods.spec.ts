import {
  DeleteKeyRequest,
  KeyEvent_Type,
  PutKeyRequest,
  serviceDefinitions,
  WatchKeysRequest,
  type WatchKeysResponse,
} from "@quoin/proto";
import { expect } from "chai";
import {
  type Answer,
  type GrpcCaller,
  GrpcPorts,
  type GrpcStream,
  type SingleReplica,
  until,
} from "../../../test/harness/index.ts";
import { type FoundingSecrets, foundingSecrets } from "../../../test/index.ts";
import { expiredKeys } from "../../state/index.ts";

const { deleteKey, putKey } = serviceDefinitions.KeyValueService;
const { watchKeys, watchLocks } = serviceDefinitions.WatchService;

type Watch = GrpcStream<WatchKeysResponse, Answer<never>>;

describe("WatchService", () => {
  let secrets: FoundingSecrets;
  let ports: GrpcPorts;
  let owner: GrpcCaller;

  before(async () => {
    secrets = await foundingSecrets();
  });

  beforeEach(async () => {
    ports = await GrpcPorts.founded(secrets);
    owner = ports.caller(await ports.token(secrets));
  });

  afterEach(() => ports.close());

  function replica(): SingleReplica {
    if (ports.member.replica === null) {
      throw new Error("the member serves");
    }
    return ports.member.replica;
  }

  async function put(key: string, value: string, ttlSeconds = 0n): Promise<bigint> {
    const request = PutKeyRequest.fromPartial({ namespace: "default", key, value: Buffer.from(value), ttlSeconds });
    const answer = await owner.call(putKey, request);
    expect(answer.code).to.equal("OK");
    return answer.response?.revision as bigint;
  }

  function watch(request: Partial<WatchKeysRequest>, caller = owner): Watch {
    return caller.stream(watchKeys, WatchKeysRequest.fromPartial({ namespace: "default", ...request }));
  }

  /** A watch that is in place. */
  async function watching(request: Partial<WatchKeysRequest>, caller = owner): Promise<Watch> {
    const opened = watch(request, caller);
    await opened.until("the watch is in place", ([first]) => first);
    return opened;
  }

  const eventsOf = (messages: readonly WatchKeysResponse[]) => messages.flatMap(({ events }) => events);

  /** The events as soon as there are so many. */
  function events(opened: Watch, count: number) {
    return opened.until(`${count} events`, (messages) => {
      const told = eventsOf(messages);
      return told.length >= count && told;
    });
  }

  async function verdict(opened: Watch): Promise<readonly unknown[]> {
    const { code, reason, details } = await opened.ended();
    const field = details?.metadata.get("field");
    return field === undefined ? [code, reason] : [code, reason, field];
  }

  it("first says that the watch is in place, then tells what happens to the keys", async () => {
    await put("a", "0");
    const opened = await watching({ prefix: "a" });
    expect(opened.messages).to.deep.equal([{ events: [], created: true, progress: false, revision: 2n }]);
    await put("a", "1", 5n);
    await put("b", "1");
    await owner.call(deleteKey, DeleteKeyRequest.fromPartial({ namespace: "default", key: "a" }));
    await put("a", "2", 1n);
    replica().tickMs += 1_001;
    replica().lead({ kind: "expire-keys", keys: expiredKeys(replica().state, replica().tickMs, 10) });
    const told = await events(opened, 4);
    const a = { key: "a", createRevision: 2n, expiresInMs: 0n };
    expect(told.map((event) => ({ ...event, kv: { ...event.kv, value: String(event.kv?.value) } }))).to.deep.equal([
      {
        type: KeyEvent_Type.PUT,
        kv: { ...a, value: "1", modRevision: 3n, version: 2n, expiresInMs: 5_000n },
        previous: undefined,
      },
      { type: KeyEvent_Type.DELETE, kv: { ...a, value: "1", modRevision: 5n, version: 2n }, previous: undefined },
      {
        type: KeyEvent_Type.PUT,
        kv: { ...a, value: "2", createRevision: 6n, modRevision: 6n, version: 1n, expiresInMs: 1_000n },
        previous: undefined,
      },
      {
        type: KeyEvent_Type.EXPIRE,
        kv: { ...a, value: "2", createRevision: 6n, modRevision: 7n, version: 1n },
        previous: undefined,
      },
    ]);
    expect(opened.messages.at(-1)?.revision).to.equal(7n);
  });

  it("tells what was before, and leaves out values, to whom asked for it", async () => {
    const plain = await watching({});
    const previous = await watching({ includePrevious: true });
    const keys = await watching({ keysOnly: true });
    const both = await watching({ includePrevious: true, keysOnly: true });
    await put("a", "one");
    await put("a", "two");
    const values = async (opened: Watch) =>
      (await events(opened, 2)).map(({ kv, previous: before }) => [
        String(kv?.value),
        before && `${before.value}@${before.modRevision}`,
      ]);
    expect(await values(plain)).to.deep.equal([
      ["one", undefined],
      ["two", undefined],
    ]);
    expect(await values(previous)).to.deep.equal([
      ["one", undefined],
      ["two", "one@2"],
    ]);
    expect(await values(keys)).to.deep.equal([
      ["", undefined],
      ["", undefined],
    ]);
    expect(await values(both)).to.deep.equal([
      ["", undefined],
      ["", "@2"],
    ]);
  });

  it("S37: goes on at any revision where another stream ended", async () => {
    for (let at = 0; at < 5; at++) {
      await put(`k${at}`, "v");
    }
    for (const startRevision of [1n, 3n, 6n, 7n]) {
      const opened = await watching({ startRevision });
      expect(opened.messages[0]?.revision).to.equal(startRevision - 1n);
      const wanted = [2n, 3n, 4n, 5n, 6n].filter((revision) => revision >= startRevision);
      const told = await events(opened, wanted.length);
      expect(told.map(({ kv }) => kv?.modRevision)).to.deep.equal(wanted);
      opened.cancel();
    }
  });

  it("tells progress when nothing happens", async () => {
    await put("a", "v");
    const opened = await watching({ progressIntervalMs: 100n });
    await opened.until("progress twice", (messages) => messages.filter(({ progress }) => progress).length >= 2);
    expect(opened.messages[1]).to.deep.equal({ events: [], created: false, progress: true, revision: 2n });
  });

  it("counts as news what is not acknowledged yet, and nothing that was", async () => {
    const barrier = new Promise<() => void>((resolve) => {
      ports.member.cluster.onBarrier = (done) => resolve(() => done(null));
    });
    const opened = watch({});
    const pass = await barrier;
    await put("a", "v");
    pass();
    await opened.until("the watch is in place", ([first]) => first);
    await put("b", "v");
    expect((await events(opened, 1)).map(({ kv }) => kv?.key)).to.deep.equal(["b"]);
  });

  it("S38: gives a reader that had stopped reading everything that it has missed", async () => {
    const opened = await watching({});
    const other = await watching({ keysOnly: true });
    opened.pause();
    const value = "v".repeat(200_000);
    for (let at = 0; at < 40; at++) {
      await put(`k${at}`, value);
    }
    await events(other, 40);
    expect(eventsOf(opened.messages).length).to.be.below(40);
    opened.resume();
    const told = await events(opened, 40);
    expect(told.map(({ kv }) => kv?.key)).to.deep.equal(Array.from({ length: 40 }, (_, at) => `k${at}`));
  });

  describe("refuses", () => {
    it("in the order of the contract", async () => {
      const viewer = ports.caller(await ports.token(secrets, { role: "viewer", namespaces: ["prod"] }));
      const bad = { namespace: "No!", prefix: "x".repeat(1_025), startRevision: -1n, progressIntervalMs: 99n };
      expect(await verdict(watch(bad, ports.caller("nonsense")))).to.deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
      const metadata = new Map([["request-id", "1"]]);
      const badId = owner.stream(watchKeys, WatchKeysRequest.fromPartial(bad), { metadata });
      expect(await verdict(badId)).to.deep.equal(["INVALID_ARGUMENT", "BAD_METADATA", "request-id"]);
      const badBytes = owner.stream(watchKeys, Buffer.from("0a01ff", "hex"));
      expect(await verdict(badBytes)).to.deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "namespace"]);
      expect(await verdict(watch(bad, viewer))).to.deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
      const fields = [
        [{}, "BAD_FIELD", "namespace"],
        [{ namespace: "absent" }, "TOO_LARGE", "prefix"],
        [{ prefix: "" }, "BAD_FIELD", "start_revision"],
        [{ startRevision: 1n }, "BAD_FIELD", "progress_interval_ms"],
        [{ progressIntervalMs: 60_001n }, "BAD_FIELD", "progress_interval_ms"],
      ] as const;
      for (const [repaired, reason, field] of fields) {
        Object.assign(bad, repaired);
        expect(await verdict(watch(bad)), field).to.deep.equal(["INVALID_ARGUMENT", reason, field]);
      }
      bad.progressIntervalMs = 60_000n;
      expect(await verdict(watch(bad))).to.deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
      await watching({ ...bad, namespace: "default" });
    });

    it("a start whose history is gone, with the revision from which on it is there", async () => {
      for (let at = 0; at < 3; at++) {
        await put("k", "v");
      }
      // More than an hour later the leader has it dropped.
      replica().tickMs += 3_600_001;
      await put("k", "v");
      replica().lead({ kind: "trim-history", countMax: 100 });
      const refusal = await watch({ startRevision: 4n }).ended();
      expect([refusal.code, refusal.reason]).to.deep.equal(["OUT_OF_RANGE", "COMPACTED"]);
      expect(refusal.details?.metadata).to.deep.equal(new Map([["compact_revision", "5"]]));
      const opened = await watching({ startRevision: 5n });
      expect((await events(opened, 1)).map(({ kv }) => kv?.modRevision)).to.deep.equal([5n]);
    });

    it("everybody while the member serves no cluster", async () => {
      ports.member.stopServing();
      expect(await verdict(watch({}))).to.deep.equal(["UNAVAILABLE", "NO_LEADER"]);
    });

    it("to watch locks, which there are not", async () => {
      const request = { namespace: "default", namePrefix: "", startRevision: 0n, progressIntervalMs: 0n };
      const { code, reason } = await owner.stream(watchLocks, request).ended();
      expect([code, reason]).to.deep.equal(["UNIMPLEMENTED", "NOT_SERVED"]);
    });
  });

  describe("S39: ends a stream", () => {
    it("whose API key is revoked", async () => {
      const opened = await watching({});
      ports.member.cluster.changeApiKey({ revokedAtMs: 1 });
      expect(await verdict(opened)).to.deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
    });

    it("whose token expires", async () => {
      const opened = await watching({});
      ports.member.cluster.clock.wall += 3_600_000;
      expect(await verdict(opened)).to.deep.equal(["UNAUTHENTICATED", "TOKEN_EXPIRED"]);
    });

    it("whose user loses the namespace", async () => {
      const opened = await watching({});
      ports.member.cluster.changeOwner({ role: "viewer", namespaces: ["other"] });
      expect(await verdict(opened)).to.deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
    });

    it("of a member that hears no leader", async () => {
      const opened = await watching({});
      replica().leaderId = 0;
      expect(await verdict(opened)).to.deep.equal(["UNAVAILABLE", "NO_LEADER"]);
    });
  });

  it("S47: when the member stops, tells progress, and where to go on", async () => {
    const opened = await watching({ prefix: "a" });
    await put("a", "v");
    await events(opened, 1);
    await put("b", "v");
    const stopped = ports.publicServer.stop(10_000);
    const { code, reason, details } = await opened.ended();
    expect([code, reason]).to.deep.equal(["UNAVAILABLE", "SHUTTING_DOWN"]);
    expect(details?.metadata.get("resume_revision")).to.equal("4");
    expect(opened.messages.at(-1)).to.deep.equal({ events: [], created: false, progress: true, revision: 3n });
    await stopped;
  });

  it("forgets a stream that its client has cancelled", async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => watching({})));
    for (const opened of streams) {
      opened.cancel();
    }
    await Promise.all(streams.map((opened) => opened.ended()));
    await until("nobody observes the replica", () => replica().observers === 0);
  });
});
