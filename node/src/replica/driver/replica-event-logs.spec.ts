import { expect } from "chai";
import { ReplicaCluster } from "../../../test/harness/index.ts";
import { appended, NO_SETTINGS, OWNER } from "../../../test/index.ts";
import {
  type AppendEvents,
  BATCH_EVENTS_MAX,
  type ClientOperation,
  CoordinationError,
  describeLog,
  type Outcome,
  Payloads,
  readEvents,
  SequenceRuns,
} from "../../state/index.ts";

const DEADLINE_MS = 30_000;
const BATCH_BYTES = 10 * 1024 * 1024;
/** A million events at a time would keep the garbage collector busy for seconds. */
const PAGE = { eventsMax: 10_000, bytesMax: Number.MAX_SAFE_INTEGER };

/** The outcome of the command at this member. */
function execute(cluster: ReplicaCluster, id: number, operation: ClientOperation): Outcome {
  let ended: { readonly error: CoordinationError | null; readonly outcome: Outcome | null } | null = null;
  const deadlineMs = cluster.time.monotonicMs() + DEADLINE_MS;
  const command = { principal: OWNER, request: null, operation };
  cluster.replica(id).propose(command, deadlineMs, (error, outcome) => {
    ended = { error, outcome };
  });
  cluster.until("the command is answered", () => ended !== null);
  const { error, outcome } = ended as unknown as { error: CoordinationError | null; outcome: Outcome | null };
  if (outcome === null) {
    throw error;
  }
  return outcome;
}

function createLog(cluster: ReplicaCluster, id: number): Uint8Array {
  const settings = { ...NO_SETTINGS };
  const { answer } = execute(cluster, id, { kind: "create-log", name: "l", namespace: "default", settings });
  if (answer instanceof CoordinationError || answer.kind !== "create-log") {
    throw new Error("no log was created");
  }
  return answer.log.logId;
}

function batch(logId: Uint8Array, idempotencyKey: string, payloads: readonly Uint8Array[]): AppendEvents {
  return {
    kind: "append-events",
    logId,
    payloads: Payloads.of(payloads),
    isBatch: true,
    idempotencyKey,
    expectedSequence: undefined,
  };
}

describe("event logs of three replicas", () => {
  it("take the largest batch there is from a follower, as one entry, alike at every member", function () {
    this.timeout(30_000);
    const cluster = ReplicaCluster.ledBy(1);
    const logId = createLog(cluster, 2);
    const { lastIndex } = cluster.replica(1).status();
    const size = Math.floor(BATCH_BYTES / BATCH_EVENTS_MAX);
    const different = Array.from({ length: 251 }, (_, at) => new Uint8Array(size).fill(at));
    const payloadAt = (at: number) => different[at % different.length] as Uint8Array;
    const payloads = Array.from({ length: BATCH_EVENTS_MAX }, (_, at) => payloadAt(at));
    const { answer } = execute(cluster, 2, batch(logId, "k".repeat(240), payloads));
    expect(answer).to.deep.include({ lastSequence: BATCH_EVENTS_MAX, appendedBytes: size * BATCH_EVENTS_MAX });
    cluster.advance(500);
    expect(cluster.replica(1).status().lastIndex - lastIndex).to.equal(1);
    for (const id of [1, 2, 3]) {
      const { state } = cluster.replica(id);
      const log = describeLog(state, logId);
      let read = 0;
      for (let page = readEvents(state, log, 1, PAGE); page.length > 0; page = readEvents(state, log, read + 1, PAGE)) {
        const from = read;
        const isRight = page.every(({ payload }, at) => Buffer.compare(payload, payloadAt(from + at)) === 0);
        expect(isRight, `member ${id}, from ${from}`).to.equal(true);
        read += page.length;
      }
      expect(read, `member ${id}`).to.equal(BATCH_EVENTS_MAX);
    }
  });

  it("take one event as large as the largest batch, alike at every member", function () {
    this.timeout(30_000);
    const cluster = ReplicaCluster.ledBy(1);
    const logId = createLog(cluster, 2);
    const payload = new Uint8Array(BATCH_BYTES).fill(7);
    const { answer } = execute(cluster, 2, batch(logId, "k".repeat(240), [payload]));
    expect(answer).to.deep.include({ runs: SequenceRuns.one(0, 1, 1), appendedBytes: BATCH_BYTES });
    cluster.advance(500);
    for (const id of [1, 2, 3]) {
      const { state } = cluster.replica(id);
      const [event] = readEvents(state, describeLog(state, logId), 1, { eventsMax: 1, bytesMax: 1 });
      expect(Buffer.compare(event?.payload ?? new Uint8Array(0), payload), `member ${id}`).to.equal(0);
    }
  });

  it("S03: know the keys of what was stored under another leader", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const logId = createLog(cluster, 1);
    const events = batch(logId, "k", [Buffer.from("a"), Buffer.from("b")]);
    expect(appended(execute(cluster, 2, events))).to.equal("1 2");
    cluster.kill(1);
    expect(appended(execute(cluster, 3, events))).to.equal("again 1 2");
    expect(appended(execute(cluster, 2, batch(logId, "other", [Buffer.from("c")])))).to.equal("3");
  });
});
