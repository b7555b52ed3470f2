import { expect } from "chai";
import { DEFAULT_REPLICA_LIMITS } from "../src/replica/index.ts";
import { DEFAULT_STATE_LIMITS, type HistoryLimits } from "../src/state/index.ts";
import { DEFAULT_WATCH_LIMITS, NamespaceStreams, WatchHub } from "../src/watch/index.ts";
import { ReplicaCluster, WatchReader } from "./harness/index.ts";
import { OWNER } from "./index.ts";

/** The log is compacted soon, and not kept for absent members. */
function limitsWith(history: Partial<HistoryLimits>) {
  const { compaction, maintenance, state } = DEFAULT_REPLICA_LIMITS;
  const kept = { ...DEFAULT_STATE_LIMITS.history, ...history };
  return {
    syncBytes: 1,
    compaction: { ...compaction, keptEntries: 2, dueEntries: 4, neededBytes: 0 },
    state: { ...state, history: kept },
    maintenance: { ...maintenance, history: kept, trimsMax: 1 },
  };
}

/**
 * A client that watches the keys "k…". When it must, it resumes at another member, after the last change that it got.
 */
class ResumingClient {
  readonly received: number[] = [];
  ends: string[] = [];
  readonly #cluster: ReplicaCluster;
  readonly #hubs: ReadonlyMap<number, WatchHub>;
  #member: number;
  #next: number;
  #reader: WatchReader | null = null;
  #read = 0;

  constructor(cluster: ReplicaCluster, hubs: ReadonlyMap<number, WatchHub>, member: number, next: number) {
    this.#cluster = cluster;
    this.#hubs = hubs;
    this.#member = member;
    this.#next = next;
  }

  /** Reads all messages, and opens the stream again at the next member if it has ended. */
  proceed(): void {
    const { messages, ended } = this.#reader ?? { messages: [], ended: null };
    for (const { changes, revision } of messages.slice(this.#read)) {
      this.received.push(...changes.map((change) => change.revision));
      this.#next = revision + 1;
      this.#read++;
    }
    if (this.#reader !== null && ended === null && this.#cluster.node(this.#member).isRunning) {
      return;
    }
    if (ended !== null) {
      this.ends.push(ended.reason);
    }
    this.#reader?.close();
    this.#reader = null;
    this.#member = (this.#member % 3) + 1;
    if (this.#cluster.node(this.#member).isRunning && this.#cluster.replica(this.#member).status().leaderId !== 0) {
      this.#reader = new WatchReader();
      this.#read = 0;
      const request = {
        about: "key",
        namespace: "default",
        prefix: Buffer.from("k"),
        startRevision: this.#next,
      } as const;
      const hub = this.#hubs.get(this.#member);
      this.#reader.close =
        hub?.open({ ...request, principal: OWNER, progressIntervalMs: 100 }, this.#reader) ?? this.#reader.close;
    }
  }
}

function hubsOf(cluster: ReplicaCluster): ReadonlyMap<number, WatchHub> {
  const hubOf = (id: number) =>
    new WatchHub({
      member: {
        get replica() {
          return cluster.node(id).isRunning ? cluster.replica(id) : null;
        },
      },
      clock: cluster.time,
      scheduler: cluster.time,
      limits: DEFAULT_WATCH_LIMITS,
      namespaceStreams: new NamespaceStreams(),
    });
  return new Map([1, 2, 3].map((id) => [id, hubOf(id)]));
}

describe("watches of a cluster", () => {
  /** Puts at the leader, and returns the revision. */
  function put(cluster: ReplicaCluster, key: string): number {
    for (;;) {
      cluster.until("a leader", () => cluster.leader !== 0);
      const call = cluster.put(cluster.leader, key);
      if (cluster.resultAfter(call) === "done") {
        return call.outcome?.answer !== undefined && "revision" in call.outcome.answer
          ? call.outcome.answer.revision
          : 0;
      }
    }
  }

  it("S37: send each client every change once, across leaders that die and members that start again", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const hubs = hubsOf(cluster);
    const first = cluster.replica(1).revision + 1;
    const clients = [1, 2, 3].map((member) => new ResumingClient(cluster, hubs, member, first));
    const wanted: number[] = [];
    for (let round = 0; round < 12; round++) {
      for (let at = 0; at < 5; at++) {
        wanted.push(put(cluster, `k${at}`));
        put(cluster, "other");
        for (const client of clients) {
          client.proceed();
        }
      }
      const victim = round % 2 === 0 ? cluster.leader : (round % 3) + 1;
      cluster.kill(victim);
      cluster.until("a leader", () => cluster.leader !== 0 && cluster.leader !== victim);
      wanted.push(put(cluster, "k"));
      cluster.start(victim);
    }
    cluster.until("all changes have arrived", () => {
      for (const client of clients) {
        client.proceed();
      }
      return clients.every(({ received }) => received.length >= wanted.length);
    });
    for (const { received } of clients) {
      expect(received).to.deep.equal(wanted);
    }
  });

  /** Watches at member 2, which then misses so many changes that it gets a snapshot. */
  function caughtUp(history: Partial<HistoryLimits>) {
    const cluster = ReplicaCluster.ledBy(1, limitsWith(history));
    const hub = hubsOf(cluster).get(2) as WatchHub;
    const open = (startRevision: number) => {
      const reader = new WatchReader();
      const request = { about: "key", namespace: "default", prefix: Buffer.from("k"), startRevision } as const;
      reader.close = hub.open({ ...request, principal: OWNER, progressIntervalMs: 60_000 }, reader);
      return reader;
    };
    const seen = put(cluster, "k");
    cluster.until("it is applied", () => cluster.replica(2).revision === seen);
    const [now, ahead] = [open(0), open(seen + 11)];
    cluster.network.isolate(2);
    const missed = Array.from({ length: 12 }, () => put(cluster, "k"));
    cluster.advance(500);
    cluster.network.rejoin(2);
    cluster.until("it is caught up", () => cluster.replica(2).revision === cluster.replica(1).revision);
    cluster.advance(100);
    expect(cluster.node(2).state.installed?.index, "by a snapshot").to.be.above(0);
    const toldBy = ({ messages }: WatchReader) =>
      messages.flatMap(({ changes }) => changes.map((change) => change.revision));
    return { now, ahead, missed, toldBy };
  }

  it("go on over a snapshot, which contains the history of the missed changes", () => {
    const { now, ahead, missed, toldBy } = caughtUp({});
    // They would have ended after a second without a leader; this was shorter.
    expect([now.ended, ahead.ended]).to.deep.equal([null, null]);
    expect(toldBy(now)).to.deep.equal(missed);
    expect(toldBy(ahead)).to.deep.equal(missed.slice(-2));
  });

  it("end where a snapshot lacks the missed changes, and only there", () => {
    const { now, ahead, missed, toldBy } = caughtUp({ revisionsMax: 3 });
    expect(now.ended?.reason).to.equal("COMPACTED");
    expect(toldBy(now)).to.deep.equal([]);
    expect(toldBy(ahead)).to.deep.equal(missed.slice(-2));
  });
});
