import { expect } from "chai";
import { ReplicaCluster } from "../../../test/harness/index.ts";
import { DEFAULT_STATE_LIMITS, type Row } from "../../state/index.ts";

const EVERY = 10;
const LIMITS = { state: { ...DEFAULT_STATE_LIMITS, checkpointEntries: EVERY } };

/** Rows of keys begin with the letter d. */
const KEY_TABLE = Uint8Array.of(0x64);
const KEY_TABLE_END = Uint8Array.of(0x65);

describe("a member whose state is not that of the cluster (P44)", () => {
  /** Flips a bit of the last byte of every key's value at the member, as a fault of its memory or program would. */
  function flip(cluster: ReplicaCluster, id: number): void {
    const { state } = cluster.node(id);
    const rows: Row[] = [];
    state.scan(KEY_TABLE, KEY_TABLE_END, (row) => rows.push(row) > 0);
    expect(rows).to.have.length.above(0);
    state.write(rows.map(({ key, value }) => ({ key, value: value.with(-1, (value.at(-1) as number) ^ 1) })));
  }

  /** Puts this many values at the member, so that the members compare their states. */
  function write(cluster: ReplicaCluster, at: number, count: number): void {
    for (let left = count; left > 0; left--) {
      expect(cluster.resultAfter(cluster.put(at, `k${left % 3}`))).to.equal("done");
    }
  }

  const saidBy = (cluster: ReplicaCluster, id: number) =>
    cluster.node(id).callbacks.filter((words) => words.startsWith("diverged"));
  const alarmsOf = (cluster: ReplicaCluster, id: number) => cluster.replica(id).status().alarms;

  it("stops, reports it and answers no call any more, and the others continue", () => {
    const cluster = ReplicaCluster.ledBy(1, LIMITS);
    write(cluster, 1, 3);
    cluster.until("all have it", () => [1, 2, 3].every((id) => cluster.stored(id, "k1") === "v"));
    flip(cluster, 3);
    // An overwrite also reports the previous value, so the states differ from there.
    write(cluster, 1, 2 * EVERY);
    const waiting = cluster.put(3, "x");
    cluster.until("it is noticed", () => {
      write(cluster, 1, 1);
      return saidBy(cluster, 3).length > 0;
    });
    expect(saidBy(cluster, 3)).to.have.length(1);
    expect(saidBy(cluster, 3)[0]).to.match(/^diverged: at log index [0-9]+0 the state of this member had the digest/);
    expect(cluster.resultAfter(waiting)).to.be.oneOf(["done", "SHUTTING_DOWN unknown"]);
    expect(cluster.resultAfter(cluster.read(3, "k1"))).to.match(/^SHUTTING_DOWN/);
    expect(alarmsOf(cluster, 1).join()).to.match(/^member 3 had another state than this one at log index [0-9]+$/);
    cluster.kill(3);
    write(cluster, 2, 3 * EVERY);
    expect([saidBy(cluster, 1), saidBy(cluster, 2)]).to.deep.equal([[], []]);
    expect(cluster.resultAfter(cluster.read(2, "k1"))).to.equal("done");
  });

  it("stops when it leads, and no other member does; another one leads then", () => {
    const cluster = ReplicaCluster.ledBy(1, LIMITS);
    write(cluster, 1, 3);
    cluster.until("all have it", () => [1, 2, 3].every((id) => cluster.stored(id, "k1") === "v"));
    flip(cluster, 1);
    cluster.until("it is noticed", () => {
      cluster.put(2, "k1");
      cluster.advance(100);
      return saidBy(cluster, 1).length > 0;
    });
    expect(saidBy(cluster, 1)).to.deep.equal(["diverged: most voters, members 2, 3, have another state than this one"]);
    cluster.kill(1);
    cluster.until("another one leads", () => cluster.leader > 1);
    write(cluster, 2, 3 * EVERY);
    expect([saidBy(cluster, 2), saidBy(cluster, 3)]).to.deep.equal([[], []]);
  });

  it("is not identified while one of the others is away, but it is reported; then it stops", () => {
    const cluster = ReplicaCluster.ledBy(1, LIMITS);
    write(cluster, 1, 3);
    cluster.until("all have it", () => [1, 2, 3].every((id) => cluster.stored(id, "k1") === "v"));
    flip(cluster, 3);
    cluster.kill(2);
    write(cluster, 1, 3 * EVERY);
    cluster.advance(2_000);
    expect(alarmsOf(cluster, 1).join()).to.contain("member 3 had another state");
    expect([saidBy(cluster, 1), saidBy(cluster, 3)]).to.deep.equal([[], []]);
    cluster.start(2);
    cluster.until("it is decided", () => {
      cluster.put(1, "k1");
      cluster.advance(100);
      return saidBy(cluster, 3).length > 0;
    });
    expect([saidBy(cluster, 1), saidBy(cluster, 2)]).to.deep.equal([[], []]);
  });

  it("does not exist if nothing is wrong, whichever member leads and restarts", () => {
    const cluster = ReplicaCluster.ledBy(1, LIMITS);
    for (let round = 0; round < 6; round++) {
      write(cluster, ((round + 1) % 3) + 1, 2 * EVERY);
      cluster.advance(1_500);
      const victim = round % 2 === 0 ? cluster.leader : (round % 3) + 1;
      cluster.kill(victim);
      cluster.until("another leader", () => cluster.leader !== 0 && cluster.leader !== victim);
      write(cluster, (victim % 3) + 1, EVERY);
      cluster.start(victim);
      cluster.until("it is back", () => cluster.replica(victim).status().isServing);
    }
    for (const id of [1, 2, 3]) {
      expect([saidBy(cluster, id), alarmsOf(cluster, id)]).to.deep.equal([[], []]);
    }
  });
});
