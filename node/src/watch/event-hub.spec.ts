import { expect } from "chai";
import { FakeTime } from "../../test/harness/index.ts";
import { AppliedEventLog, AppliedLog, refused } from "../../test/index.ts";
import { CoordinationError, type Outcome } from "../state/index.ts";
import { DEFAULT_EVENT_HUB_LIMITS, EventHub, type EventHubLimits, type FollowRequest } from "./event-hub.ts";
import { NamespaceStreams } from "./namespace-streams.ts";

/** A hub over an applied log, with event logs in it and those who follow them. */
class FollowedLogs {
  readonly log = new AppliedLog();
  readonly time = new FakeTime();
  readonly hub: EventHub;
  readonly observers = new Set<(entries: readonly { readonly outcome: Outcome | null }[] | null) => void>();
  /** How often the state was read. */
  reads = 0;
  leaderId = 1;
  lagMs = 0;
  member: { replica: ReturnType<FollowedLogs["replicaOf"]> | null };

  constructor(limits: Partial<EventHubLimits> = {}) {
    this.member = { replica: this.replicaOf() };
    const { time, member } = this;
    const all = { ...DEFAULT_EVENT_HUB_LIMITS, ...limits };
    const namespaceStreams = new NamespaceStreams();
    this.hub = new EventHub({ member, clock: time, scheduler: time, limits: all, namespaceStreams });
  }

  replicaOf() {
    const { store } = this.log;
    return {
      state: {
        get: (key: Uint8Array) => {
          this.reads++;
          return store.get(key);
        },
        scan: store.scan.bind(store),
      },
      status: () => ({ leaderId: this.leaderId, lagMs: this.lagMs }),
      observe: (listener: (entries: readonly { readonly outcome: Outcome | null }[] | null) => void) => {
        this.observers.add(listener);
        return () => this.observers.delete(listener);
      },
    };
  }

  /** Tells the hub of an outcome as applying does; null = all may be different. */
  tell(outcome: Outcome | null): void {
    for (const listener of this.observers) {
      listener(outcome === null ? null : [{ outcome }, { outcome: null }]);
    }
  }

  append(events: AppliedEventLog, payload: string): void {
    this.tell(this.log.executeHttp(events.operation([payload])));
  }

  follow(events: AppliedEventLog, changes: Partial<FollowRequest> = {}): Reader {
    const reader = new Reader();
    const bounds = { eventsMax: 10, bytesMax: 1_000, untilMs: Number.POSITIVE_INFINITY };
    const request = { logId: events.logId, namespace: "default", fromSequence: 1, ...bounds, ...changes };
    reader.leave = this.hub.open(request, reader);
    return reader;
  }
}

class Reader {
  /** What it was told, in words. */
  readonly lines: string[] = [];
  /** Whether each message is taken as it comes. */
  isQuick = true;
  refusal: CoordinationError | null = null;
  leave: () => void = () => undefined;
  #taken: () => void = () => undefined;

  send({ events }: { readonly events: readonly { readonly sequence: number }[] }, taken: () => void): void {
    this.lines.push(events.map(({ sequence }) => sequence).join(" "));
    this.#taken = taken;
    if (this.isQuick) {
      taken();
    }
  }

  take(): void {
    this.#taken();
  }

  recheck(): void {
    if (this.refusal !== null) {
      throw this.refusal;
    }
  }

  end(error: CoordinationError | null): void {
    this.lines.push(error?.reason ?? "time is up");
  }
}

describe("EventHub", () => {
  it("tells what is there and what comes, in order, once, to each from where it begins", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    followed.append(events, "a");
    followed.append(events, "b");
    const all = followed.follow(events);
    const later = followed.follow(events, { fromSequence: 4 });
    followed.time.settle();
    followed.append(events, "c");
    followed.append(events, "d");
    followed.time.settle();
    followed.append(events, "e");
    followed.time.settle();
    expect([all.lines, later.lines]).to.deep.equal([
      ["1 2", "3 4", "5"],
      ["4", "5"],
    ]);
  });

  it("closes messages at their bounds, and goes on with the next one", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    for (let count = 0; count < 7; count++) {
      followed.append(events, "xxxx");
    }
    const byCount = followed.follow(events, { eventsMax: 3 });
    const byBytes = followed.follow(events, { bytesMax: 9 });
    followed.time.settle();
    expect(byCount.lines).to.deep.equal(["1 2 3", "4 5 6", "7"]);
    expect(byBytes.lines).to.deep.equal(["1 2", "3 4", "5 6", "7"]);
  });

  it("S38: holds one message for who is slow, and delays nobody", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const slow = followed.follow(events);
    const quick = followed.follow(events);
    slow.isQuick = false;
    for (const payload of ["a", "b", "c"]) {
      followed.append(events, payload);
      followed.time.settle();
    }
    expect([slow.lines, quick.lines]).to.deep.equal([["1"], ["1", "2", "3"]]);
    slow.take();
    followed.time.settle();
    expect(slow.lines).to.deep.equal(["1", "2 3"]);
  });

  it("goes over what retention has removed, and misses nothing that is kept", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({ retentionMaxBytes: 2 }, { log: followed.log });
    const slow = followed.follow(events);
    slow.isQuick = false;
    followed.append(events, "a");
    followed.time.settle();
    for (const payload of ["b", "c", "d", "e"]) {
      followed.append(events, payload);
    }
    events.pass(1);
    slow.take();
    followed.time.settle();
    expect(slow.lines).to.deep.equal(["1", "4 5"]);
  });

  it("reads nothing for what is applied elsewhere", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const other = new AppliedEventLog({}, { log: followed.log, name: "other" });
    followed.follow(events);
    followed.time.settle();
    const before = followed.reads;
    for (let count = 0; count < 10; count++) {
      followed.append(other, "x");
      followed.time.settle();
    }
    expect(followed.reads).to.equal(before);
  });

  it("looks at every log after the state was replaced", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const reader = followed.follow(events);
    followed.time.settle();
    followed.log.executeHttp(events.operation(["a"]));
    followed.tell(null);
    followed.time.settle();
    expect(reader.lines).to.deep.equal(["1"]);
  });

  it("S44: serves a bounded number in one turn, and all in turn", () => {
    const followed = new FollowedLogs({ servedPerTurn: 2 });
    const events = new AppliedEventLog({}, { log: followed.log });
    followed.append(events, "a");
    const readers = Array.from({ length: 5 }, () => followed.follow(events));
    const counts: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      followed.time.turn();
      counts.push(readers.filter(({ lines }) => lines.length > 0).length);
    }
    expect(counts).to.deep.equal([2, 4, 5]);
  });

  it("S39: ends within a second for whom is refused, also if nothing comes", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const readers = Array.from({ length: 30 }, () => followed.follow(events));
    followed.time.settle();
    for (const reader of readers) {
      reader.refusal = new CoordinationError("TOKEN_REVOKED", "");
    }
    followed.time.advance(1_000);
    expect(readers.map(({ lines }) => lines)).to.deep.equal(readers.map(() => ["TOKEN_REVOKED"]));
    expect(followed.hub.size).to.equal(0);
  });

  it("S39: tells nothing more to whom is refused", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const reader = followed.follow(events);
    followed.time.settle();
    reader.refusal = new CoordinationError("ACCESS_DENIED", "");
    followed.append(events, "a");
    followed.time.settle();
    expect(reader.lines).to.deep.equal(["ACCESS_DENIED"]);
  });

  it("ends when the log is deleted, or was never there", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const reader = followed.follow(events);
    followed.time.settle();
    followed.tell(followed.log.executeHttp({ kind: "delete-log", logId: events.logId }));
    followed.time.settle();
    const late = followed.follow(events);
    followed.time.settle();
    expect([reader.lines, late.lines]).to.deep.equal([["LOG_NOT_FOUND"], ["LOG_NOT_FOUND"]]);
  });

  it("ends when its time is up", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const reader = followed.follow(events, { untilMs: followed.time.monotonicMs() + 500 });
    followed.time.advance(450);
    expect(reader.lines).to.deep.equal([]);
    followed.time.advance(100);
    expect(reader.lines).to.deep.equal(["time is up"]);
  });

  for (const [name, spoil] of [
    ["hears no leader for a second", (followed: FollowedLogs) => Object.assign(followed, { leaderId: 0 })],
    ["is a second behind", (followed: FollowedLogs) => Object.assign(followed, { lagMs: 1_001 })],
    [
      "serves another replica",
      (followed: FollowedLogs) => Object.assign(followed.member, { replica: followed.replicaOf() }),
    ],
    ["serves none any more", (followed: FollowedLogs) => Object.assign(followed.member, { replica: null })],
  ] as const) {
    it(`ends with NO_LEADER when the member ${name}`, () => {
      const followed = new FollowedLogs();
      const events = new AppliedEventLog({}, { log: followed.log });
      const reader = followed.follow(events);
      followed.time.advance(900);
      expect(reader.lines).to.deep.equal([]);
      spoil(followed);
      followed.time.advance(1_200);
      expect(reader.lines).to.deep.equal(["NO_LEADER"]);
      expect([followed.time.timerCount, followed.observers.size]).to.deep.equal([0, 0]);
    });
  }

  it("S47: ends all when it is to stop, and begins none any more", async () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const reader = followed.follow(events);
    followed.hub.drain();
    expect(reader.lines).to.deep.equal(["SHUTTING_DOWN"]);
    expect((await refused(() => followed.follow(events))).reason).to.equal("SHUTTING_DOWN");
  });

  it("bounds how many follow, and forgets who has left", async () => {
    const followed = new FollowedLogs({ followersMax: 2 });
    const events = new AppliedEventLog({}, { log: followed.log });
    const first = followed.follow(events);
    followed.follow(events);
    expect((await refused(() => followed.follow(events))).reason).to.equal("TOO_MANY_STREAMS");
    first.leave();
    const third = followed.follow(events);
    followed.append(events, "a");
    followed.time.settle();
    expect([first.lines, third.lines]).to.deep.equal([[], ["1"]]);
    followed.member.replica = null;
    expect((await refused(() => new FollowedLogs({ followersMax: 0 }).follow(events))).reason).to.equal(
      "TOO_MANY_STREAMS",
    );
  });
});
