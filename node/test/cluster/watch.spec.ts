import { randomUUID } from "node:crypto";
import {
  AcquireLockRequest,
  CreateLockRequest,
  type KeyEvent,
  type LockEvent,
  LockEvent_Action,
  LockEvent_Reason,
  ReleaseLockRequest,
  serviceDefinitions,
  WatchKeysRequest,
  WatchLocksRequest,
} from "@quoin/proto";
import { expect } from "chai";
import {
  type Answer,
  type ClusterMember,
  ClusterUnderTest,
  GrpcCaller,
  type GrpcStream,
  until,
} from "../harness/index.ts";

const WRITES = 40;
const { watchKeys, watchLocks } = serviceDefinitions.WatchService;
const { createLock, acquireLock, releaseLock } = serviceDefinitions.LockService;

const ACTIONS = new Map<LockEvent_Action, string>([
  [LockEvent_Action.ACQUIRED, "ACQUIRED"],
  [LockEvent_Action.RELEASED, "RELEASED"],
]);
const REASONS = new Map<LockEvent_Reason, string>([
  [LockEvent_Reason.NORMAL, "NORMAL"],
  [LockEvent_Reason.EXPIRED, "EXPIRED"],
]);

/** The common part of messages of both kinds of watches. */
interface Message<Event> {
  readonly events: readonly Event[];
  readonly revision: bigint;
}
type Watch<Event> = GrpcStream<Message<Event>, Answer<never>>;
type Open<Event> = (caller: GrpcCaller, startRevision: bigint) => Watch<Event>;

const keysOf: Open<KeyEvent> = (caller, startRevision) => {
  const request = { namespace: "default", prefix: "w", startRevision, progressIntervalMs: 100n };
  return caller.stream(watchKeys, WatchKeysRequest.fromPartial(request));
};
const locksOf: Open<LockEvent> = (caller, startRevision) => {
  const request = { namespace: "default", namePrefix: "w", startRevision, progressIntervalMs: 100n };
  return caller.stream(watchLocks, WatchLocksRequest.fromPartial(request));
};

async function callerAt(cluster: ClusterUnderTest, member: ClusterMember): Promise<GrpcCaller> {
  const headers = new Map([
    ["authorization", `Bearer ${await cluster.tokens.token()}`],
    ["api-version", "v1"],
  ]);
  return new GrpcCaller(member.ports.grpc, headers);
}

/** A client that watches "w…" at one member, and resumes at another if the stream ends. */
class WatchingClient<Event> {
  readonly #cluster: ClusterUnderTest;
  readonly #open: Open<Event>;
  readonly #callers: GrpcCaller[] = [];
  readonly events: Event[] = [];
  readonly ends: Answer<never>[] = [];
  #watch: Watch<Event> | null = null;
  #read = 0;
  next = 0n;

  constructor(cluster: ClusterUnderTest, open: Open<Event>) {
    this.#cluster = cluster;
    this.#open = open;
  }

  async open(member: ClusterMember): Promise<void> {
    const caller = await callerAt(this.#cluster, member);
    this.#callers.push(caller);
    this.#watch = this.#open(caller, this.next);
    this.#read = 0;
  }

  async untilOpen(): Promise<void> {
    await this.#watch?.until("the watch is in place", ([first]) => first);
  }

  /** Collects changes until there are this many in all. */
  async untilTold(count: number): Promise<void> {
    await until(`${count} changes`, async () => {
      this.#take();
      const end = this.#watch?.end ?? null;
      if (end !== null) {
        this.ends.push(end);
        const present = this.#cluster.members.filter(({ isAlive }) => isAlive);
        await this.open(present[0] as ClusterMember);
      }
      return this.events.length >= count;
    });
  }

  /** How the stream ends; it is not opened again. */
  async ended(): Promise<Answer<never>> {
    const end = await (this.#watch as Watch<Event>).ended();
    this.#take();
    return end;
  }

  close(): void {
    for (const caller of this.#callers) {
      caller.close();
    }
  }

  #take(): void {
    for (const { events, revision } of this.#watch?.messages.slice(this.#read) ?? []) {
      this.events.push(...events);
      this.next = revision + 1n;
      this.#read++;
    }
  }
}

describe("watches at three members", () => {
  let cluster: ClusterUnderTest;

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
  });
  ClusterUnderTest.describeFailures(() => cluster);
  afterEach(async () => {
    // Each test begins with all of them.
    for (const member of cluster.members.filter(({ isAlive }) => !isAlive)) {
      member.start();
    }
    await cluster.untilReady();
  });
  after(() => cluster?.dispose());

  it("report every change once, when the leader is killed and a member is stopped in order (S37, S47)", async () => {
    const watching = cluster.members.map(() => new WatchingClient(cluster, keysOf));
    const writer = cluster.client();
    const wanted: bigint[] = [];
    const write = async (): Promise<void> => {
      for (let at = 0; at < WRITES; at++) {
        const { modRevision } = await writer.keyValue.put("default", `w${at % 7}`, `${at}`);
        wanted.push(BigInt(modRevision));
        await writer.keyValue.put("default", "another", `${at}`);
      }
    };
    try {
      await Promise.all(watching.map((client, at) => client.open(cluster.members[at] as ClusterMember)));
      await Promise.all(watching.map((client) => client.untilOpen()));
      await write();
      await Promise.all(watching.map((client) => client.untilTold(WRITES)));
      const leader = await cluster.leader();
      await leader.kill();
      await write();
      await Promise.all(watching.map((client) => client.untilTold(2 * WRITES)));
      const [ended] = watching[cluster.members.indexOf(leader)]?.ends ?? [];
      expect(ended?.code).to.equal("UNAVAILABLE");
      leader.start();
      await leader.untilReady();

      const stopping = await cluster.leader();
      const client = new WatchingClient(cluster, keysOf);
      watching.push(client);
      client.next = wanted[0] as bigint;
      await client.open(stopping);
      await client.untilTold(2 * WRITES);
      const stopped = stopping.stop();
      const { code, reason, details } = await client.ended();
      expect([code, reason]).to.deep.equal(["UNAVAILABLE", "SHUTTING_DOWN"]);
      expect(details?.metadata.get("resume_revision")).to.equal(String(client.next));
      await stopped;
      await write();
      await Promise.all(watching.map((each) => each.untilTold(3 * WRITES)));
      for (const { events } of watching) {
        expect(events.map(({ kv }) => kv?.modRevision)).to.deep.equal(wanted);
      }
    } finally {
      for (const client of watching) {
        client.close();
      }
    }
  });

  it("report every grant and end of a lock once, also of one that expires under another leader (S22, S37)", async () => {
    const watching = cluster.members.map(() => new WatchingClient(cluster, locksOf));
    const leader = await cluster.leader();
    const others = cluster.members.filter((member) => member !== leader);
    const callers = await Promise.all(others.map((member) => callerAt(cluster, member)));
    const wanted: string[] = [];
    /** Calls the member whose turn it is, repeatedly under the same id until there is a leader. */
    const call: GrpcCaller["call"] = (method, request) => {
      const caller = callers[wanted.length % callers.length] as GrpcCaller;
      const metadata = new Map([["request-id", randomUUID()]]);
      return until("an answer", async () => {
        const answer = await caller.call(method, request, { metadata });
        return answer.code !== "UNAVAILABLE" && answer;
      });
    };
    const acquire = async (name: string, ttlSeconds: bigint): Promise<bigint> => {
      const asked = { namespace: "default", name, ttlSeconds, waitMs: 30_000n };
      const { response } = await call(acquireLock, AcquireLockRequest.fromPartial(asked));
      expect(response?.acquired).to.equal(true);
      wanted.push(`ACQUIRED NORMAL ${name} ${response?.fencingToken}`);
      return response?.fencingToken as bigint;
    };
    const release = async (name: string, fencingToken: bigint): Promise<void> => {
      const asked = { namespace: "default", name, fencingToken };
      expect((await call(releaseLock, ReleaseLockRequest.fromPartial(asked))).code).to.equal("OK");
      wanted.push(`RELEASED NORMAL ${name} ${fencingToken}`);
    };
    const rounds = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at++) {
        await release("w0", await acquire("w0", 30n));
      }
    };
    try {
      await Promise.all(watching.map((client, at) => client.open(cluster.members[at] as ClusterMember)));
      await Promise.all(watching.map((client) => client.untilOpen()));
      for (const name of ["w0", "w1", "x"]) {
        const asked = CreateLockRequest.fromPartial({ namespace: "default", name });
        expect((await call(createLock, asked)).code).to.equal("OK");
      }
      await rounds(10);
      const lost = await acquire("w1", 1n);
      await leader.kill();
      // Waited for: granted by the entry that expires the hold, which the next leader proposes.
      const expired = `RELEASED EXPIRED w1 ${lost}`;
      const next = await acquire("w1", 60n);
      wanted.splice(-1, 0, expired);
      await rounds(10);
      await release("w1", next);
      await Promise.all(watching.map((client) => client.untilTold(wanted.length)));
      for (const { events } of watching) {
        const told = events.map(({ action, reason, lockKey, fencingToken }) => {
          return `${ACTIONS.get(action)} ${REASONS.get(reason)} ${lockKey} ${fencingToken}`;
        });
        expect(told).to.deep.equal(wanted);
        const revisions = events.map(({ revision }) => revision);
        expect(revisions).to.deep.equal([...new Set(revisions)].sort((a, b) => Number(a - b)));
      }
    } finally {
      for (const each of [...watching, ...callers]) {
        each.close();
      }
    }
  });

  it("begin above the compacted revisions, at every member, and after a restart", async () => {
    const writer = cluster.client();
    let last = 0;
    for (let at = 0; at < WRITES; at++) {
      last = Number((await writer.keyValue.put("default", `w${at % 7}`, `${at}`)).modRevision);
    }
    const leader = await cluster.leader();
    const [follower] = cluster.members.filter((member) => member !== leader) as [ClusterMember];
    const asked = await callerAt(cluster, follower);
    const revision = BigInt(last - 5);
    try {
      const { response } = await asked.call(serviceDefinitions.ClusterAdminService.compact, { revision });
      expect(response?.compactRevision).to.equal(revision);
    } finally {
      asked.close();
    }
    await follower.kill();
    follower.start();
    await follower.untilReady();
    for (const member of cluster.members) {
      const caller = await callerAt(cluster, member);
      try {
        const { reason, details } = await keysOf(caller, revision - 1n).ended();
        expect([reason, details?.metadata.get("compact_revision")]).to.deep.equal(["COMPACTED", String(revision)]);
        const told = await keysOf(caller, revision).until("what is left", (messages) => {
          const events = messages.flatMap(({ events: some }) => some);
          return events.length >= 6 && events;
        });
        expect(told.map(({ kv }) => Number(kv?.modRevision))).to.deep.equal([5, 4, 3, 2, 1, 0].map((by) => last - by));
      } finally {
        caller.close();
      }
    }
  });
});
