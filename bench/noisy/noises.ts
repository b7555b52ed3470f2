/** The noises: of a tenant with a token, and of clients without one. */

import { randomUUID } from "node:crypto";
import { type ClientHttp2Session, connect as connectHttp2, type Settings } from "node:http2";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import * as proto from "@quoin/proto";
import { quoinHeaders, withPrefix } from "../clusters/index.ts";
import { answer, ask, Channel, holdConnections } from "./calls.ts";
import { type Noise, type NoiseTarget, repeat, untilOver } from "./noise.ts";

const {
  KeyValueService: keys,
  LockService: locks,
  MemoryService: memory,
  WatchService: watches,
} = proto.serviceDefinitions;
const KIBIBYTE = 1_024;
const MEBIBYTE = KIBIBYTE * KIBIBYTE;
const HEALTH_WATCH = "/grpc.health.v1.Health/Watch";
/** Frames of HTTP/2: the preface and empty SETTINGS. */
const PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from("000000040000000000", "hex"),
]);

/** A noise that repeats one call of gRPC, with this many at once, at the leader and one other member. */
function calls(
  name: string,
  count: number,
  call: (channel: Channel, target: NoiseTarget, at: number) => Promise<boolean>,
  hasToken = true,
): Noise {
  return {
    name,
    run: async (target, over) => {
      const channels = target.members.map(({ grpc }) => new Channel(grpc, hasToken ? target.token : null));
      const tally = await repeat(count, over, (at) => call(channels[at % 2] as Channel, target, at));
      for (const channel of channels) {
        channel.close();
      }
      return tally;
    },
  };
}

/** So many connections at a time, without a token, which send these requests at once. */
function inOneWrite(name: string, connections: number, pipelined: string): Noise {
  return {
    name,
    run: async ({ members: [leader] }, over) => {
      const [host = "", port] = (leader?.http ?? "").split(":");
      const tally = await repeat(connections, over, () => {
        const socket = connect({ host, port: Number(port) });
        const ended = new Promise<boolean>((resolve) => {
          socket.on("error", () => resolve(false)).on("close", () => resolve(true));
          over.addEventListener("abort", () => socket.destroy(), { once: true });
        });
        socket.resume().end(pipelined);
        return ended;
      });
      return `connections: ${tally}`;
    },
  };
}

/** A noise that repeats one request of HTTP. */
function requests(
  name: string,
  count: number,
  path: (target: NoiseTarget, at: number) => string,
  options: (target: NoiseTarget, at: number) => Parameters<typeof ask>[2] = () => ({}),
): Noise {
  return {
    name,
    run: async (target, over) => {
      const work = (at: number) =>
        ask((target.members[at % 2] as { http: string }).http, path(target, at), options(target, at));
      return repeat(count, over, work);
    },
  };
}

function bearer({ token }: NoiseTarget): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${token}` };
}

/** A call over HTTP by the Connect protocol. */
function json(target: NoiseTarget, body: Buffer | string, headers: Readonly<Record<string, string>> = {}) {
  return { method: "POST", headers: { ...bearer(target), "Content-Type": "application/json", ...headers }, body };
}

let next = 0;

const OF_TENANT: readonly Noise[] = [
  calls("versions of an absent key", 100, (channel, { namespace }) =>
    channel.ask(keys.listKeyVersions, proto.ListKeyVersionsRequest.fromPartial({ namespace, key: "absent" })),
  ),
  calls("versions of a key with 1,000", 64, (channel, { namespace }) =>
    channel.ask(
      keys.listKeyVersions,
      proto.ListKeyVersionsRequest.fromPartial({ namespace, key: "hot", pageSize: 1_000 }),
    ),
  ),
  calls("lists of 1,000 locks", 256, (channel, { namespace }) =>
    channel.ask(locks.listLocks, proto.ListLocksRequest.fromPartial({ namespace, pageSize: 1_000 })),
  ),
  calls("pages of keys", 64, (channel, { namespace }) =>
    channel.ask(keys.listKeys, proto.ListKeysRequest.fromPartial({ namespace, pageSize: 1_000 })),
  ),
  requests(
    "pages of keys as JSON",
    64,
    () => "/coordination.v1.KeyValueService/ListKeys",
    (target) => json(target, JSON.stringify({ namespace: target.namespace, pageSize: 1_000 })),
  ),
  calls("gets", 256, (channel, { namespace }) =>
    channel.ask(keys.getKey, proto.GetKeyRequest.fromPartial({ namespace, key: "hot" })),
  ),
  calls("small puts", 256, (channel, { namespace }, at) =>
    channel.ask(
      keys.putKey,
      proto.PutKeyRequest.fromPartial({ namespace, key: `small-${at}`, value: Buffer.alloc(64) }),
    ),
  ),
  calls("puts of 1 MiB", 16, (channel, { namespace }, at) =>
    channel.ask(
      keys.putKey,
      proto.PutKeyRequest.fromPartial({ namespace, key: `large-${at}`, value: Buffer.alloc(MEBIBYTE - KIBIBYTE) }),
    ),
  ),
  calls("puts that expire at once", 256, (channel, { namespace }) =>
    channel.ask(
      keys.putKey,
      proto.PutKeyRequest.fromPartial({
        namespace,
        key: `short-${next++ % 20_000}`,
        value: Buffer.alloc(64),
        ttlSeconds: 1n,
      }),
    ),
  ),
  calls("swaps of one key", 128, (channel, { namespace }) =>
    channel.ask(
      keys.compareAndSwap,
      proto.CompareAndSwapRequest.fromPartial({
        namespace,
        key: "hot",
        expectedValue: Buffer.from("never"),
        newValue: Buffer.alloc(64),
      }),
    ),
  ),
  calls("one lock, taken and given back", 128, async (channel, { namespace }, at) => {
    const lock = { namespace, name: "lock-0", owner: `owner-${at}` };
    await channel.ask(
      locks.acquireLock,
      proto.AcquireLockRequest.fromPartial({ ...lock, ttlSeconds: 1n, waitMs: 200n }),
    );
    return channel.ask(locks.releaseLock, proto.ReleaseLockRequest.fromPartial(lock));
  }),
  calls("4,000 waits for one lock", 4_000, (channel, { namespace }, at) =>
    channel.ask(
      locks.acquireLock,
      proto.AcquireLockRequest.fromPartial({ namespace, name: "lock-1", owner: `owner-${at}`, waitMs: 60_000n }),
      60_000,
    ),
  ),
  calls("1,000 readers that wait for one writer", 1_000, async (channel, { namespace }, at) => {
    const mode = at === 0 ? proto.RWMode.WRITE : proto.RWMode.READ;
    const lock = { namespace, name: "rw-lock", owner: `owner-${at}`, mode };
    const wanted = proto.AcquireRWLockRequest.fromPartial({ ...lock, ttlSeconds: 30n, waitMs: 30_000n });
    await channel.ask(locks.acquireRWLock, wanted, 30_000);
    return channel.ask(locks.releaseRWLock, proto.ReleaseRWLockRequest.fromPartial(lock));
  }),
  calls("writes of 1 MiB into a region", 16, (channel, { namespace, regionId }, at) =>
    channel.ask(
      memory.writeMemory,
      proto.WriteMemoryRequest.fromPartial({
        namespace,
        regionId,
        offset: BigInt(at * KIBIBYTE),
        data: Buffer.alloc(MEBIBYTE / 2),
      }),
    ),
  ),
  requests(
    "appends of 100 events",
    32,
    ({ logId }) => `/logs/${logId}/append_batch?delimiter=%0A`,
    (target) => ({
      method: "POST",
      headers: { ...bearer(target), "Idempotency-Key": randomUUID() },
      body: `${"x".repeat(100)}\n`.repeat(100),
    }),
  ),
  requests(
    "reads of 1,000 events",
    32,
    ({ logId }) => `/logs/${logId}/events?limit=1000`,
    (target) => ({ headers: bearer(target) }),
  ),
  {
    name: "500 watches of keys that change",
    run: async (target, over) => {
      const channels = target.members.map(({ grpc }) => new Channel(grpc, target.token));
      const { namespace } = target;
      for (let at = 0; at < 500; at++) {
        (channels[at % 2] as Channel).stream(watches.watchKeys, proto.WatchKeysRequest.fromPartial({ namespace }));
      }
      const put = proto.PutKeyRequest.fromPartial({ namespace, key: "watched", value: Buffer.alloc(KIBIBYTE) });
      const tally = await repeat(32, over, (at) => (channels[at % 2] as Channel).ask(keys.putKey, put));
      for (const channel of channels) {
        channel.close();
      }
      return `500 watches, puts: ${tally}`;
    },
  },
  {
    name: "2,000 watches with 15 KiB of headers",
    run: async (target, over) => {
      const channels = Array.from({ length: 8 }, (_, at) => {
        return new Channel((target.members[at % 2] as { grpc: string }).grpc, target.token);
      });
      const request = proto.WatchKeysRequest.fromPartial({ namespace: target.namespace, prefix: "none" });
      for (let at = 0; at < 2_000; at++) {
        (channels[at % 8] as Channel).stream(watches.watchKeys, request, { padding: "x".repeat(15_000) });
      }
      await untilOver(over);
      for (const channel of channels) {
        channel.close();
      }
      return "2,000 watches";
    },
  },
  {
    name: "100 streams of a log from its beginning",
    run: async (target, over) => {
      const headers = { ...bearer(target), Accept: "text/event-stream" };
      const path = `/logs/${target.logId}/events`;
      const tally = await repeat(100, over, async (at) => {
        const response = await answer((target.members[at % 2] as { http: string }).http, path, { headers });
        const end = (): void => void response.destroy();
        over.addEventListener("abort", end, { once: true });
        let bytes = 0;
        for await (const piece of response) {
          bytes += piece.length;
          if (bytes > MEBIBYTE) {
            break;
          }
        }
        over.removeEventListener("abort", end);
        end();
        return response.statusCode === 200;
      });
      return tally;
    },
  },
  {
    name: "answers that are not taken",
    run: async ({ members, token, namespace }, over) => {
      const request = proto.ListKeysRequest.fromPartial({ namespace, pageSize: 1_000 });
      const sessions = openStreams(members, [50, 50], keys.listKeys.path, {
        body: withPrefix(proto.ListKeysRequest.encode(request).finish()),
        headersOf: () => quoinHeaders(token),
        settings: { initialWindowSize: 0 },
      });
      await untilOver(over);
      const open = sessions.filter(({ closed, destroyed }) => !closed && !destroyed).length;
      for (const session of sessions) {
        session.destroy();
      }
      return `2,500 calls, ${open} of 50 connections still open`;
    },
  },
  requests(
    "JSON that grows a thousandfold",
    16,
    () => "/coordination.v1.KeyValueService/PutKey",
    (target) => json(target, NESTED, { "Content-Encoding": "gzip" }),
  ),
  calls("2,000,000 empty elements", 8, (channel) => channel.ask(keys.putKey, EMPTY_ELEMENTS)),
];

const WITHOUT_TOKEN: readonly Noise[] = [
  calls(
    "calls with a forged token",
    256,
    (channel, { namespace }) => channel.ask(keys.getKey, proto.GetKeyRequest.fromPartial({ namespace, key: "hot" })),
    false,
  ),
  calls(
    "calls of unknown methods",
    256,
    (channel) => channel.ask({ ...keys.getKey, path: "/a.b/C" }, Buffer.alloc(0)),
    false,
  ),
  requests("requests of unknown paths", 64, (_, at) => `/nowhere/${at}`),
  requests(
    "the documents that need no token",
    64,
    (_, at) => ["/openapi.json", "/docs", "/console/"][at % 3] as string,
  ),
  {
    name: "the metrics",
    run: async ({ members }, over) => {
      const work = (at: number) => ask((members[at % 2] as { health: string }).health, "/metrics");
      return repeat(64, over, work);
    },
  },
  inOneWrite("1,000 requests in one write", 16, "GET /openapi.json HTTP/1.1\r\nHost: q\r\n\r\n".repeat(1_000)),
  inOneWrite("64 KiB of requests on 400 connections", 400, "GET / HTTP/1.1\r\nHost:q\r\n\r\n".repeat(2_400)),
  requests(
    "logins with a wrong password",
    16,
    () => "/auth/login",
    () => ({
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "stranger@quoin.test", password: randomUUID() }),
    }),
  ),
  requests(
    "exchanges of a wrong API key",
    64,
    () => "/auth/token",
    () => ({
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ api_key: `qk_00000000_${"A".repeat(43)}` }),
    }),
  ),
  held("2,000 idle connections", 2_000, ({ grpc, http }) => [grpc, http]),
  held("2,000 connections of HTTP/2 without a call", 2_000, ({ grpc }) => [grpc], PREFACE),
  held("silent connections at the peer port", 256, ({ peer }) => [peer]),
  held("silent connections at the administration port", 256, ({ admin }) => [admin]),
  held("silent connections at the health port", 256, ({ health }) => [health]),
  {
    name: "2,000 watches of the health",
    run: async ({ members }, over) => {
      const sessions = openStreams(members, [20, 100], HEALTH_WATCH, { body: withPrefix(new Uint8Array()) });
      await untilOver(over);
      for (const session of sessions) {
        session.destroy();
      }
      return "2,000 watches on 20 connections";
    },
  },
];

function held(
  name: string,
  count: number,
  endpointsOf: (ports: NoiseTarget["members"][number]) => readonly string[],
  greeting: Buffer | null = null,
): Noise {
  return {
    name,
    run: ({ members }, over) => holdConnections(members.slice(0, 2).flatMap(endpointsOf), count, over, greeting),
  };
}

/** Opens so many connections of HTTP/2 to two members, with so many calls on each, whose answers are dropped. */
function openStreams(
  members: NoiseTarget["members"],
  [connections, calls]: readonly [number, number],
  path: string,
  {
    body,
    headersOf = () => ({}),
    settings = {},
  }: {
    readonly body: Buffer;
    readonly headersOf?: () => Readonly<Record<string, string>>;
    readonly settings?: Settings;
  },
): readonly ClientHttp2Session[] {
  return Array.from({ length: connections }, (_, at) => {
    const session = connectHttp2(`http://${(members[at % 2] as { grpc: string }).grpc}`, { settings });
    session.on("error", () => undefined);
    for (let call = 0; call < calls; call++) {
      const usual = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
      const stream = session.request({ ...usual, ...headersOf() });
      stream.on("error", () => undefined).resume();
      stream.end(body);
    }
    return session;
  });
}

/** 6 MiB of nested arrays in 6 KiB. */
const NESTED = gzipSync(Buffer.alloc(6 * MEBIBYTE, "["));
/** The field `guards` of a put, with nothing in it, again and again. */
const EMPTY_ELEMENTS = Buffer.alloc(4_000_000 - 2, Buffer.of(0x3a, 0));

export const NOISES: readonly Noise[] = [...OF_TENANT, ...WITHOUT_TOKEN];
