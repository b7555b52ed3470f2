import { expect } from "chai";
import { FakeTime } from "../../test/harness/index.ts";
import { AppliedEventLog, AppliedLog, OWNER, refused } from "../../test/index.ts";
import { CoordinationError, type Outcome } from "../state/index.ts";
import { DEFAULT_EVENT_HUB_LIMITS, EventHub, type EventHubLimits, type FollowRequest } from "./event-hub.ts";
import { NamespaceStreams } from "./namespace-streams.ts";

/** A hub over an applied log with event logs and their followers. */
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

  /** Reports an outcome to the hub as applying does; null = anything may have changed. */
  tell(outcome: Outcome | null): void {
    for (const listener of this.observers) {
      listener(outcome === null ? null : [{ outcome }, { outcome: null }]);
    }
  }

  append(events: AppliedEventLog, payload: string): void {
    this.tell(this.log.execute(events.operation([payload])));
  }

  follow(events: AppliedEventLog, changes: Partial<FollowRequest> = {}): Reader {
    const reader = new Reader();
    const bounds = { eventsMax: 10, bytesMax: 1_000, untilMs: Number.POSITIVE_INFINITY };
    const request = {
      logId: events.logId,
      namespace: "default",
      fromSequence: 1,
      principal: OWNER,
      ...bounds,
      ...changes,
    };
    reader.leave = this.hub.open(request, reader);
    return reader;
  }
}

class Reader {
  /** The messages that it got, in words. */
  readonly lines: string[] = [];
  /** Whether it takes each message at once. */
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
  it("sends existing and new events in order, once, to each follower from its start", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    followed.append(events, "a");
    followed.append(events, "b");
    const all = followed.follow(events);
    const later = followed.follow(events, { fromSequence: 4 });
    followed.time.drain();
    followed.append(events, "c");
    followed.append(events, "d");
    followed.time.drain();
    followed.append(events, "e");
    followed.time.drain();
    expect([all.lines, later.lines]).to.deep.equal([
      ["1 2", "3 4", "5"],
      ["4", "5"],
    ]);
  });

  it("ends messages at their limits, and continues with the next one", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    for (let count = 0; count < 7; count++) {
      followed.append(events, "xxxx");
    }
    const byCount = followed.follow(events, { eventsMax: 3 });
    const byBytes = followed.follow(events, { bytesMax: 9 });
    followed.time.drain();
    expect(byCount.lines).to.deep.equal(["1 2 3", "4 5 6", "7"]);
    expect(byBytes.lines).to.deep.equal(["1 2", "3 4", "5 6", "7"]);
  });

  it("S38: keeps one message for a slow follower, and delays no other", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const slow = followed.follow(events);
    const quick = followed.follow(events);
    slow.isQuick = false;
    for (const payload of ["a", "b", "c"]) {
      followed.append(events, payload);
      followed.time.drain();
    }
    expect([slow.lines, quick.lines]).to.deep.equal([["1"], ["1", "2", "3"]]);
    slow.take();
    followed.time.drain();
    expect(slow.lines).to.deep.equal(["1", "2 3"]);
  });

  it("skips what retention has removed, and misses nothing that is kept", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({ retentionMaxBytes: 2 }, { log: followed.log });
    const slow = followed.follow(events);
    slow.isQuick = false;
    followed.append(events, "a");
    followed.time.drain();
    for (const payload of ["b", "c", "d", "e"]) {
      followed.append(events, payload);
    }
    events.pass(1);
    slow.take();
    followed.time.drain();
    expect(slow.lines).to.deep.equal(["1", "4 5"]);
  });

  it("reads nothing for entries that are not about its logs", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const other = new AppliedEventLog({}, { log: followed.log, name: "other" });
    followed.follow(events);
    followed.time.drain();
    const before = followed.reads;
    for (let count = 0; count < 10; count++) {
      followed.append(other, "x");
      followed.time.drain();
    }
    expect(followed.reads).to.equal(before);
  });

  it("reads every log after the state was replaced", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const reader = followed.follow(events);
    followed.time.drain();
    followed.log.execute(events.operation(["a"]));
    followed.tell(null);
    followed.time.drain();
    expect(reader.lines).to.deep.equal(["1"]);
  });

  it("S44: serves a bounded number of followers in one turn, and all of them in time", () => {
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

  it("S39: ends a refused follower within a second, also without new events", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const readers = Array.from({ length: 30 }, () => followed.follow(events));
    followed.time.drain();
    for (const reader of readers) {
      reader.refusal = new CoordinationError("TOKEN_REVOKED", "");
    }
    followed.time.advance(1_000);
    expect(readers.map(({ lines }) => lines)).to.deep.equal(readers.map(() => ["TOKEN_REVOKED"]));
    expect(followed.hub.size).to.equal(0);
  });

  it("S39: sends a refused follower nothing more", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const reader = followed.follow(events);
    followed.time.drain();
    reader.refusal = new CoordinationError("ACCESS_DENIED", "");
    followed.append(events, "a");
    followed.time.drain();
    expect(reader.lines).to.deep.equal(["ACCESS_DENIED"]);
  });

  it("ends when the log is deleted, or was never there", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const reader = followed.follow(events);
    followed.time.drain();
    followed.tell(followed.log.execute({ kind: "delete-log", logId: events.logId }));
    followed.time.drain();
    const late = followed.follow(events);
    followed.time.drain();
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
    ["has no leader for a second", (followed: FollowedLogs) => Object.assign(followed, { leaderId: 0 })],
    ["is a second behind", (followed: FollowedLogs) => Object.assign(followed, { lagMs: 1_001 })],
    [
      "serves another replica",
      (followed: FollowedLogs) => Object.assign(followed.member, { replica: followed.replicaOf() }),
    ],
    ["no longer serves a replica", (followed: FollowedLogs) => Object.assign(followed.member, { replica: null })],
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

  it("S47: ends all streams when it drains, and refuses new ones", async () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const reader = followed.follow(events);
    followed.append(events, "a");
    followed.hub.drain();
    expect((await refused(() => followed.follow(events))).reason).to.equal("SHUTTING_DOWN");
    followed.time.drain();
    expect(reader.lines).to.deep.equal(["SHUTTING_DOWN"]);
    expect([followed.hub.size, followed.time.timerCount, followed.observers.size]).to.deep.equal([0, 0, 0]);
  });

  it("S44: ends a bounded number of streams in one turn", () => {
    const followed = new FollowedLogs({ servedPerTurn: 2 });
    const events = new AppliedEventLog({}, { log: followed.log });
    const readers = Array.from({ length: 5 }, () => followed.follow(events));
    followed.time.drain();
    followed.hub.drain();
    const counts: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      followed.time.turn();
      counts.push(readers.filter(({ lines }) => lines.length > 0).length);
    }
    expect(counts).to.deep.equal([2, 4, 5]);
  });

  it("bounds the number of followers, and forgets those that have left", async () => {
    const followed = new FollowedLogs({ followersMax: 2 });
    const events = new AppliedEventLog({}, { log: followed.log });
    const first = followed.follow(events);
    followed.follow(events);
    expect((await refused(() => followed.follow(events))).reason).to.equal("TOO_MANY_STREAMS");
    first.leave();
    const third = followed.follow(events);
    followed.append(events, "a");
    followed.time.drain();
    expect([first.lines, third.lines]).to.deep.equal([[], ["1"]]);
    followed.member.replica = null;
    expect((await refused(() => new FollowedLogs({ followersMax: 0 }).follow(events))).reason).to.equal(
      "TOO_MANY_STREAMS",
    );
  });

  it("lists its streams by their numbers, with who follows which log, and how many events each has not got", () => {
    const followed = new FollowedLogs();
    const events = new AppliedEventLog({}, { log: followed.log });
    const quick = followed.follow(events);
    const slow = followed.follow(events);
    slow.isQuick = false;
    followed.append(events, "one");
    followed.time.drain();
    followed.append(events, "two");
    followed.time.drain();
    const all = { namespace: null, after: 0, countMax: 100 };
    const shown = followed.hub
      .openStreams(all)
      .map(({ number, about, logId, start, delivered, behind, ...rest }) => [
        ...[number, about, logId, rest.namespace, rest.principal, start, delivered, behind, rest.isSending],
      ]);
    expect(shown).to.deep.equal([
      [1, "event", events.logId, "default", OWNER, 1, 2, 0, false],
      [2, "event", events.logId, "default", OWNER, 1, 1, 1, true],
    ]);
    quick.leave();
    expect(followed.hub.openStreams(all)).to.have.length(1);
    expect(followed.hub.openStreams({ ...all, after: 2 })).to.deep.equal([]);
  });
});
