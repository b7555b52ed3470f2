import { serviceDefinitions, WatchKeysRequest, type WatchKeysResponse } from "@quoin/proto";
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
const { watchKeys } = serviceDefinitions.WatchService;

type Watch = GrpcStream<WatchKeysResponse, Answer<never>>;

/** A client that watches "w…" at one member, and at another from where it was if the stream ends. */
class WatchingClient {
  readonly #cluster: ClusterUnderTest;
  readonly #callers: GrpcCaller[] = [];
  readonly revisions: bigint[] = [];
  readonly ends: Answer<never>[] = [];
  #watch: Watch | null = null;
  #read = 0;
  next = 0n;

  constructor(cluster: ClusterUnderTest) {
    this.#cluster = cluster;
  }

  async open(member: ClusterMember): Promise<void> {
    const headers = new Map([
      ["authorization", `Bearer ${await this.#cluster.tokens.token()}`],
      ["api-version", "v1"],
    ]);
    const caller = new GrpcCaller(member.ports.grpc, headers);
    this.#callers.push(caller);
    const request = { namespace: "default", prefix: "w", startRevision: this.next, progressIntervalMs: 100n };
    this.#watch = caller.stream(watchKeys, WatchKeysRequest.fromPartial(request));
    this.#read = 0;
  }

  async untilOpen(): Promise<void> {
    await this.#watch?.until("the watch is in place", ([first]) => first);
  }

  /** Takes in what has come, until there are so many changes in all. */
  async untilTold(count: number): Promise<void> {
    await until(`${count} changes`, async () => {
      this.#take();
      const end = this.#watch?.end ?? null;
      if (end !== null) {
        this.ends.push(end);
        const present = this.#cluster.members.filter(({ isAlive }) => isAlive);
        await this.open(present[0] as ClusterMember);
      }
      return this.revisions.length >= count;
    });
  }

  /** How the stream ends; it is not opened again. */
  async ended(): Promise<Answer<never>> {
    const end = await (this.#watch as Watch).ended();
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
      this.revisions.push(...events.map(({ kv }) => kv?.modRevision ?? 0n));
      this.next = revision + 1n;
      this.#read++;
    }
  }
}

describe("watches at three members", () => {
  it("tell every change once, when the leader is killed and a member is stopped in order (S37, S47)", async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const watching = cluster.members.map(() => new WatchingClient(cluster));
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
        const client = new WatchingClient(cluster);
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
        for (const { revisions } of watching) {
          expect(revisions).to.deep.equal(wanted);
        }
      } finally {
        for (const client of watching) {
          client.close();
        }
      }
    });
  });
});
