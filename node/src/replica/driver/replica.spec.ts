import { crc32 } from "node:zlib";
import { expect } from "chai";
import { type DrivenCall, DrivenReplica, type MemoryLogStore, resultOf } from "../../../test/harness/index.ts";
import { acquireLock, createLock, requestOf } from "../../../test/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { EntryType, encodeEntry, entryEnvelope, NO_ENVELOPE, sealEntry } from "../../raft/index.ts";
import { CoordinationError, type PutKeyResult, readProgress } from "../../state/index.ts";
import { DEFAULT_REPLICA_LIMITS } from "../index.ts";

function putResult(call: DrivenCall): PutKeyResult {
  const answer = call.outcome?.answer;
  if (answer === undefined || answer instanceof CoordinationError || answer.kind !== "put-key") {
    throw new Error(`${call.name}: ${resultOf(call)}`);
  }
  return answer;
}

/** How many entries each write carried. */
const rowCounts = (log: MemoryLogStore): number[] => log.writes.map(({ rows }) => rows.length);

describe("Replica", () => {
  afterEach(() => listenToMarks(null));

  describe("that starts", () => {
    it("elects itself at once when it is the sole voter, after its vote is durable (P4, P54)", () => {
      const driven = new DrivenReplica();
      driven.log.isHeld = true;
      driven.time.drain();
      expect(driven.replica.status()).to.include({ role: "candidate", term: 2, appliedIndex: 1, isServing: false });
      expect(driven.log.writes.at(-1)).to.deep.include({ term: 2, vote: 1, rows: [], resetTo: null });
      driven.log.flush();
      driven.time.drain();
      expect(driven.replica.status()).to.include({ role: "leader", term: 2, leaderId: 1, isServing: false });
      driven.log.flush();
      driven.time.drain();
      expect(driven.replica.status()).to.include({ commitIndex: 2, appliedIndex: 2, isServing: true });
      expect(driven.log.durable.bounds).to.include({ last: 2, lastTerm: 2 });
      expect(driven.roles.at(-1)).to.equal("leader 2 1");
    });

    it("goes on after a kill with all that was acknowledged, in a new term and with attempts of a new boot", () => {
      const driven = DrivenReplica.leading();
      const first = driven.put("k", "1");
      driven.time.drain();
      const { revision, digest } = driven.replica.status();
      driven.restart();
      expect(driven.stored("k")?.value).to.deep.equal(Buffer.from("1"));
      driven.time.drain();
      expect(driven.replica.status()).to.include({ role: "leader", term: 3, revision, digest });
      const second = driven.put("k", "2");
      driven.time.drain();
      expect(putResult(second).modRevision).to.equal(putResult(first).modRevision + 1);
      const origins = driven.log
        .entries(1, driven.log.durable.bounds.last, 1e9)
        .map((row) => entryEnvelope(row).origin);
      expect(origins.filter(({ seq }) => seq > 0)).to.deep.equal([
        { memberId: 1, boot: 1, seq: 1 },
        { memberId: 1, boot: 2, seq: 1 },
      ]);
    });

    it("P56: answers no caller with the result of an attempt of an earlier process, though it has the same number", () => {
      const driven = DrivenReplica.leading({ sliceEntries: 1 });
      driven.put("old", "v");
      driven.time.turn();
      driven.log.flush();
      driven.restart();
      const call = driven.put("new", "v");
      while (driven.stored("old") === undefined) {
        driven.time.turn();
      }
      expect(driven.stored("new")).to.equal(undefined);
      expect(resultOf(call)).to.equal("open");
      driven.time.drain();
      expect(putResult(call)).to.include({ modRevision: driven.stored("new")?.modRevision });
    });

    it("S21: knows the time of what was logged and not applied before the kill", () => {
      const driven = DrivenReplica.leading();
      driven.time.advance(10_000);
      driven.put("k", "v");
      driven.time.turn();
      driven.log.flush();
      const loggedMs = driven.replica.tickMs;
      driven.restart();
      expect(readProgress(driven.state).tickMs).to.be.lessThan(loggedMs);
      driven.time.drain();
      expect(driven.replica.tickMs).to.be.at.least(loggedMs);
    });

    it("P42: applies what was durable and not applied yet, and nothing twice", () => {
      const driven = DrivenReplica.leading();
      const calls = [driven.put("k", "1"), driven.put("k", "2")];
      driven.time.turn();
      driven.log.flush();
      driven.restart();
      expect(driven.stored("k")).to.equal(undefined);
      driven.time.drain();
      expect(driven.stored("k")).to.deep.include({ version: 2, value: Buffer.from("2") });
      expect(calls.map(resultOf)).to.deep.equal(["SHUTTING_DOWN unknown", "SHUTTING_DOWN unknown"]);
      driven.restart();
      driven.time.drain();
      expect(driven.stored("k")?.version).to.equal(2);
    });
  });

  describe("that is asked to write", () => {
    it("S10: answers when the write is durable and applied, not before, and never within the call", () => {
      const driven = DrivenReplica.leading();
      driven.log.isHeld = true;
      const call = driven.put("k", "v");
      expect(resultOf(call)).to.equal("open");
      driven.time.drain();
      driven.time.advance(500);
      expect(resultOf(call)).to.equal("open");
      expect(driven.stored("k")).to.equal(undefined);
      driven.log.flush();
      expect(resultOf(call)).to.equal("open");
      driven.time.drain();
      expect(resultOf(call)).to.equal("done");
      expect(putResult(call)).to.include({ created: true });
      expect(driven.stored("k")?.value).to.deep.equal(Buffer.from("v"));
    });

    it("has its effects readable when the answer comes", () => {
      const driven = DrivenReplica.leading();
      let seen: string | undefined;
      driven.put("k", "v", { onAnswer: () => (seen = Buffer.from(driven.stored("k")?.value ?? []).toString()) });
      driven.time.drain();
      expect(seen).to.equal("v");
    });

    it("keeps one write in flight, and makes one more of everything that arrives meanwhile", () => {
      const driven = DrivenReplica.leading();
      const before = driven.log.writes.length;
      driven.log.isHeld = true;
      const calls = [driven.put("a", "1")];
      driven.time.drain();
      for (let at = 0; at < 20; at++) {
        calls.push(driven.put("b", String(at)));
        driven.time.drain();
      }
      expect(rowCounts(driven.log).slice(before)).to.deep.equal([1]);
      driven.log.flush();
      driven.time.drain();
      expect(rowCounts(driven.log).slice(before)).to.deep.equal([1, 20]);
      expect(calls.map(resultOf)).to.deep.equal(["done", ...Array.from({ length: 20 }, () => "open")]);
      driven.log.flush();
      driven.time.drain();
      expect(new Set(calls.map(resultOf))).to.deep.equal(new Set(["done"]));
    });

    it("answers in the order of the log", () => {
      const driven = DrivenReplica.leading();
      const calls = Array.from({ length: 50 }, (_, at) => driven.put(`k${at % 7}`, String(at)));
      driven.time.drain();
      expect(driven.answered).to.deep.equal(calls);
      const revisions = calls.map((call) => putResult(call).modRevision);
      expect(revisions).to.deep.equal(revisions.map((_, at) => (revisions[0] as number) + at));
    });

    it("takes a bounded number of commands a turn, until all are taken", () => {
      const driven = DrivenReplica.leading({ proposalsPerTurn: 10 });
      const before = driven.log.writes.length;
      driven.log.isHeld = true;
      const calls = Array.from({ length: 25 }, (_, at) => driven.put(`k${at}`, ""));
      driven.time.turn();
      expect(rowCounts(driven.log).slice(before)).to.deep.equal([10]);
      driven.log.isHeld = false;
      driven.log.flush();
      driven.time.drain();
      expect(new Set(calls.map(resultOf))).to.deep.equal(new Set(["done"]));
    });

    it("hands out bounded work before its outcomes, and one larger command alone", () => {
      const driven = DrivenReplica.leading({ proposalWorkMax: 10_000 });
      const before = driven.log.writes.length;
      driven.log.isHeld = true;
      const calls = [15_000, 300, 300, 15_000].map((bytes, at) => driven.put(`k${at}`, "x".repeat(bytes)));
      driven.time.turn();
      driven.time.turn();
      expect(rowCounts(driven.log).slice(before)).to.deep.equal([1]);
      driven.log.isHeld = false;
      driven.log.flush();
      driven.time.drain();
      expect(rowCounts(driven.log).slice(before)).to.deep.equal([1, 2, 1]);
      expect(new Set(calls.map(resultOf))).to.deep.equal(new Set(["done"]));
    });

    it("S12, S13: answers the same request again from its row, before and after a restart, and applies it once", () => {
      const driven = DrivenReplica.leading();
      const request = requestOf(7);
      const first = driven.put("k", "v", { request });
      const twin = driven.put("k", "v", { request });
      driven.time.drain();
      driven.restart();
      driven.time.drain();
      const again = driven.put("k", "v", { request });
      driven.time.drain();
      expect([first, twin, again].map((call) => call.outcome?.replayed)).to.deep.equal(["no", "yes", "yes"]);
      expect(new Set([first, twin, again].map((call) => putResult(call).modRevision)).size).to.equal(1);
      expect(driven.stored("k")?.version).to.equal(1);
    });

    it("S12: says unknown at the deadline when the write is not durable by then, and may still have executed it", () => {
      const driven = DrivenReplica.leading();
      driven.log.isHeld = true;
      const call = driven.put("k", "v", { deadlineMs: 1_000 });
      driven.time.advance(990);
      expect(resultOf(call)).to.equal("open");
      driven.time.advance(60);
      expect(resultOf(call)).to.equal("DEADLINE unknown");
      driven.log.isHeld = false;
      driven.log.flush();
      driven.time.drain();
      expect(driven.stored("k")?.value).to.deep.equal(Buffer.from("v"));
      expect(resultOf(call)).to.equal("DEADLINE unknown");
    });

    it("refuses at once what comes after its deadline, and logs nothing", () => {
      const driven = DrivenReplica.leading();
      const before = driven.log.writes.length;
      const call = driven.put("k", "v", { deadlineMs: 0 });
      expect(resultOf(call)).to.equal("open");
      driven.time.drain();
      expect(resultOf(call)).to.equal("DEADLINE unknown");
      expect(driven.log.writes).to.have.length(before);
    });

    it("executes what comes with little time in the same turn as a tick: no call waits without need", () => {
      const driven = DrivenReplica.leading();
      driven.time.stall(60);
      const calls = [10, 40, 60, 100].map((deadlineMs) => driven.put("k", "v", { deadlineMs }));
      const read = driven.read({ deadlineMs: 40 });
      driven.time.drain();
      expect([...calls, read].map(resultOf)).to.deep.equal(["done", "done", "done", "done", "done"]);
    });

    it("refuses as overloaded beyond so many waiting calls, reads included, and recovers", () => {
      const driven = DrivenReplica.leading({ waitersMax: 5 });
      driven.log.isHeld = true;
      const calls = [0, 1, 2, 3].map((at) => driven.put(`k${at}`, "v"));
      const read = driven.read();
      const late = [driven.put("late", "v"), driven.read()];
      driven.time.drain();
      expect(late.map(resultOf)).to.deep.equal(["OVERLOADED not-executed", "OVERLOADED not-executed"]);
      expect(resultOf(read)).to.equal("done");
      driven.log.isHeld = false;
      driven.log.flush();
      driven.time.drain();
      expect(calls.map(resultOf)).to.deep.equal(["done", "done", "done", "done"]);
      expect(driven.stored("late")).to.equal(undefined);
      const next = driven.put("late", "v");
      driven.time.drain();
      expect(resultOf(next)).to.equal("done");
    });

    it("lets calls that wait for locks keep out only each other", () => {
      const driven = DrivenReplica.leading({ waitersMax: 2, queuedWaitsMax: 3 });
      const acquire = (waitMs: number) => driven.execute(acquireLock({ waitMs }));
      driven.execute(createLock({}));
      driven.time.drain();
      const holder = acquire(0);
      driven.time.drain();
      const waits = [1, 2, 3, 4].map(() => acquire(3_000));
      driven.time.drain();
      expect(waits.map(resultOf)).to.deep.equal(["open", "open", "open", "OVERLOADED not-executed"]);
      const others = [driven.put("a", "v"), acquire(0)];
      driven.time.drain();
      expect([holder, ...others].map(resultOf)).to.deep.equal(["done", "done", "done"]);
      driven.time.advance(3_100);
      expect(waits.slice(0, 3).map(resultOf)).to.deep.equal(["done", "done", "done"]);
      const again = acquire(3_000);
      driven.time.drain();
      expect(resultOf(again)).to.equal("open");
    });

    it("holds what the log has no room for, then refuses it as certainly not executed (S36)", () => {
      const core = { ...DEFAULT_REPLICA_LIMITS.core, uncommittedBytesMax: 1_000 };
      const driven = DrivenReplica.leading({ core });
      driven.log.isHeld = true;
      const first = driven.put("a", "x".repeat(2_000));
      driven.time.drain();
      const [short, long] = [driven.put("b", "x", { deadlineMs: 1_000 }), driven.put("c", "x", { deadlineMs: 20_000 })];
      driven.time.advance(850);
      expect(resultOf(short)).to.equal("open");
      driven.time.advance(50);
      expect(resultOf(short)).to.equal("OVERLOADED not-executed");
      driven.time.advance(2_000);
      expect(resultOf(long)).to.equal("open");
      driven.time.advance(100);
      expect(resultOf(long)).to.equal("OVERLOADED not-executed");
      driven.log.isHeld = false;
      driven.log.flush();
      driven.time.drain();
      expect(resultOf(first)).to.equal("done");
      expect([driven.stored("b"), driven.stored("c")]).to.deep.equal([undefined, undefined]);
    });

    it("hands held calls out as soon as there is room", () => {
      const core = { ...DEFAULT_REPLICA_LIMITS.core, uncommittedBytesMax: 1_000 };
      const driven = DrivenReplica.leading({ core });
      driven.log.isHeld = true;
      const calls = ["a", "b", "c"].map((key) => driven.put(key, "x".repeat(2_000)));
      driven.time.drain();
      driven.log.isHeld = false;
      driven.log.flush();
      driven.time.drain();
      expect(calls.map(resultOf)).to.deep.equal(["done", "done", "done"]);
    });
  });

  describe("without followers", () => {
    /** The vote for itself never becomes durable. */
    function leaderless(): DrivenReplica {
      const driven = new DrivenReplica();
      driven.log.isHeld = true;
      driven.time.drain();
      expect(driven.replica.status().role).to.equal("candidate");
      return driven;
    }

    it("S36: holds calls for at most 3 s and never into the last tenth of their deadline, then says NO_LEADER", () => {
      for (const [deadlineMs, heldMs] of [
        [200, 150],
        [1_000, 900],
        [10_000, 3_000],
      ] as const) {
        const driven = leaderless();
        const calls = [driven.put("k", "v", { deadlineMs }), driven.read({ deadlineMs })];
        driven.time.advance(heldMs - 51);
        expect(calls.map(resultOf), `deadline ${deadlineMs}`).to.deep.equal(["open", "open"]);
        driven.time.advance(51);
        expect(calls.map(resultOf), `deadline ${deadlineMs}`).to.deep.equal([
          "NO_LEADER not-executed",
          "NO_LEADER not-executed",
        ]);
      }
    });

    it("serves what it held once it leads", () => {
      const driven = leaderless();
      const calls = [driven.put("k", "v"), driven.read()];
      driven.time.advance(2_000);
      driven.log.isHeld = false;
      driven.log.flush();
      driven.time.drain();
      expect(calls.map(resultOf)).to.deep.equal(["done", "done"]);
    });

    it("P6, P7: answers no read before an entry of its own term is committed", () => {
      const driven = leaderless();
      driven.log.flush();
      driven.time.drain();
      expect(driven.replica.status()).to.include({ role: "leader", isServing: false });
      const read = driven.read();
      driven.time.advance(500);
      expect(resultOf(read)).to.equal("open");
      driven.log.flush();
      driven.time.drain();
      expect(resultOf(read)).to.equal("done");
    });
  });

  describe("that is asked to read", () => {
    it("sees every write that was acknowledged before", () => {
      const driven = DrivenReplica.leading();
      const seen: string[] = [];
      for (let at = 0; at < 20; at++) {
        driven.put("k", String(at), {
          onAnswer: () => {
            driven.read({ onRead: () => seen.push(Buffer.from(driven.stored("k")?.value ?? []).toString()) });
          },
        });
        driven.time.turn();
      }
      driven.time.drain();
      expect(seen).to.have.length(20);
      for (const [at, value] of seen.entries()) {
        expect(Number(value)).to.be.at.least(at);
      }
    });

    it("P11: waits for what is committed to be applied, in the turn of the apply", () => {
      const driven = DrivenReplica.leading();
      const write = driven.put("k", "v");
      driven.time.turn();
      driven.state.isStalled = true;
      driven.log.flush();
      driven.time.drain();
      expect(driven.replica.status().commitIndex).to.be.greaterThan(driven.replica.status().appliedIndex);
      let value: Uint8Array | undefined;
      const read = driven.read({ onRead: () => (value = driven.stored("k")?.value) });
      driven.time.advance(200);
      expect([write, read].map(resultOf)).to.deep.equal(["open", "open"]);
      driven.state.isStalled = false;
      driven.time.advance(50);
      expect([write, read].map(resultOf)).to.deep.equal(["done", "done"]);
      expect(value).to.deep.equal(Buffer.from("v"));
    });

    it("P11: fails at the deadline when apply stalls, and never hangs", () => {
      const driven = DrivenReplica.leading();
      driven.put("k", "v");
      driven.time.turn();
      driven.state.isStalled = true;
      driven.log.flush();
      driven.time.drain();
      const read = driven.read({ deadlineMs: 1_000 });
      driven.time.advance(1_049);
      expect(resultOf(read)).to.equal("DEADLINE unknown");
    });

    it("answers never within the call, also when nothing has to be waited for", () => {
      const driven = DrivenReplica.leading();
      const read = driven.read();
      expect(resultOf(read)).to.equal("open");
      driven.time.drain();
      expect(resultOf(read)).to.equal("done");
    });
  });

  describe("that is stopped", () => {
    it("answers everybody who waits, and says what it knows", () => {
      const driven = DrivenReplica.leading();
      driven.log.isHeld = true;
      const handedOut = driven.put("a", "v");
      driven.time.drain();
      const [queued, read] = [driven.put("b", "v"), driven.read()];
      driven.replica.stop();
      expect([handedOut, queued, read].map(resultOf)).to.deep.equal([
        "SHUTTING_DOWN unknown",
        "SHUTTING_DOWN not-executed",
        "SHUTTING_DOWN not-executed",
      ]);
    });

    it("does nothing any more: no timer, no turn, no write, no batch", () => {
      const driven = DrivenReplica.leading();
      driven.log.isHeld = true;
      driven.put("a", "v");
      driven.time.drain();
      driven.put("b", "v");
      driven.replica.stop();
      const [writes, batches] = [driven.log.writes.length, driven.state.batches];
      driven.log.flush();
      driven.time.advance(10_000);
      expect(driven.time.timerCount).to.equal(0);
      expect([driven.log.writes.length, driven.state.batches]).to.deep.equal([writes, batches]);
      const late = [driven.put("c", "v"), driven.read()];
      driven.time.drain();
      expect(late.map(resultOf)).to.deep.equal(["SHUTTING_DOWN not-executed", "SHUTTING_DOWN not-executed"]);
      expect(driven.replica.status().isServing).to.equal(false);
    });

    it("lets a sync end that was under way, and compacts nothing after it", () => {
      const driven = DrivenReplica.leading({ syncBytes: 1 });
      driven.state.isHeld = true;
      driven.put("a", "v");
      driven.time.drain();
      expect(driven.state.isSyncing).to.equal(true);
      driven.replica.stop();
      driven.state.finishSync();
      driven.time.drain();
      expect(driven.log.writes.at(-1)?.rows).to.have.length.at.most(1);
    });
  });

  describe("as time passes", () => {
    it("P55: counts ticks in the timer and consumes them in a turn after it, at most 19 after a stall", () => {
      const core = { ...DEFAULT_REPLICA_LIMITS.core, electionTicksMin: 5, electionTicksMax: 6 };
      const driven = DrivenReplica.leading({ core });
      driven.replica.stop();
      // While a change of the configuration is committed and not applied, each election timeout only leaves a mark.
      const { term, vote, writeSeq, bounds } = driven.log.durable;
      const change = encodeEntry(EntryType.Bootstrap, NO_ENVELOPE, new Uint8Array(0));
      sealEntry(change, term, bounds.last + 1, crc32);
      const from = bounds.last + 1;
      driven.log.write(
        { writeSeq: writeSeq + 1, term, vote, commit: from, from, rows: [change], resetTo: null },
        () => undefined,
      );
      driven.log.flush();
      driven.restart();
      driven.state.isStalled = true;
      let timeouts = 0;
      listenToMarks((name) => {
        timeouts += name === "raft.campaign.unapplied-configuration" ? 1 : 0;
      });
      driven.time.drain();
      timeouts = 0;
      driven.time.advance(1_000);
      expect(timeouts, "in 20 ticks").to.equal(4);
      timeouts = 0;
      driven.time.stall(600_000);
      driven.time.drain();
      expect(timeouts, "in 19 ticks").to.be.within(3, 4);
      expect(driven.replica.status().loopLagMs).to.be.greaterThan(590_000);
      driven.time.advance(1_000);
      expect(driven.replica.status().loopLagMs).to.equal(0);
    });

    it("P55: takes what arrived in a stall before the ticks of the stall", () => {
      const driven = new DrivenReplica();
      driven.log.isHeld = true;
      driven.time.drain();
      driven.time.advance(900);
      const { term } = driven.replica.status();
      expect(driven.replica.status().role).to.equal("candidate");
      // The ticks of the stall would make the election time out, but the vote became durable during it.
      driven.time.stall(1_200);
      driven.log.flush();
      driven.time.turn();
      expect(driven.replica.status()).to.include({ role: "leader", term });
    });

    it("S20, S21: stamps entries with a tick that runs with the clock, whatever the wall clock does", () => {
      const driven = DrivenReplica.leading();
      const stamps: (readonly [tickMs: number, wallMs: number])[] = [];
      for (const jumpMs of [0, 3_600_000, -7_200_000]) {
        driven.time.wallClockMs += jumpMs;
        driven.put("k", "v");
        driven.time.drain();
        const row = driven.log.entries(driven.log.durable.bounds.last, driven.log.durable.bounds.last, 1)[0];
        const { tickMs, wallMs } = entryEnvelope(row as Uint8Array);
        expect(wallMs).to.equal(driven.time.wallMs());
        stamps.push([tickMs, wallMs]);
        driven.time.advance(1_000);
      }
      const ticks = stamps.map(([tickMs]) => tickMs);
      expect(ticks).to.deep.equal([ticks[0], (ticks[0] as number) + 1_000, (ticks[0] as number) + 2_000]);
    });

    it("S21, S22: expires a key by the log, not early, and soon after", () => {
      const driven = DrivenReplica.leading();
      driven.put("k", "v", { ttlSeconds: 10 });
      driven.time.drain();
      driven.time.advance(9_990);
      expect(driven.stored("k")).not.to.equal(undefined);
      driven.time.advance(100);
      expect(driven.stored("k")).to.equal(undefined);
    });

    it("S21: keeps what was left of a TTL through a restart: the time without a process does not count", () => {
      const driven = DrivenReplica.leading();
      driven.put("k", "v", { ttlSeconds: 10 });
      driven.time.drain();
      driven.time.advance(6_000);
      driven.put("other", "v");
      driven.time.drain();
      driven.replica.stop();
      driven.time.stall(3_600_000);
      driven.restart();
      driven.time.drain();
      driven.time.advance(3_900);
      expect(driven.stored("k")).not.to.equal(undefined);
      driven.time.advance(300);
      expect(driven.stored("k")).to.equal(undefined);
    });

    it("S21: logs a tick every 10 s while a key is to expire, so that a restart knows the time, and none without", () => {
      const driven = DrivenReplica.leading();
      const indexAfter = (ms: number): number => {
        driven.time.advance(ms);
        return driven.replica.status().lastIndex;
      };
      const start = driven.replica.status().lastIndex;
      expect(indexAfter(600_000), "an idle cluster writes nothing").to.equal(start);
      driven.put("k", "v", { ttlSeconds: 3_600 });
      driven.time.drain();
      expect(indexAfter(100_000) - start).to.be.within(1 + 9, 1 + 10);
      driven.restart();
      driven.time.drain();
      const before = readProgress(driven.state).tickMs;
      driven.time.advance(9_000);
      expect(driven.replica.tickMs - before).to.be.within(8_900, 9_100);
    });

    it("prunes stored answers after their window, in a bounded number of entries under a steady load", () => {
      const state = { ...DEFAULT_REPLICA_LIMITS.state, replayWindowMs: 1_000 };
      const maintenance = { ...DEFAULT_REPLICA_LIMITS.maintenance, replayWindowMs: 1_000 };
      const driven = DrivenReplica.leading({ state, maintenance });
      const start = driven.replica.status().lastIndex;
      for (let at = 0; at < 500; at++) {
        driven.put("k", String(at));
        driven.time.advance(10);
      }
      const { lastIndex } = driven.replica.status();
      expect(readProgress(driven.state).storedAnswers).to.be.at.most(250);
      expect(lastIndex - start - 500, "entries of its own in five seconds").to.be.within(1, 10);
      driven.time.advance(30_000);
      expect(readProgress(driven.state).storedAnswers).to.equal(0);
    });

    it("proposes one thing of its own at a time", () => {
      const driven = DrivenReplica.leading();
      driven.put("k", "v", { ttlSeconds: 1 });
      driven.time.drain();
      driven.log.isHeld = true;
      const before = driven.log.writes.length;
      driven.time.advance(10_000);
      driven.log.isHeld = false;
      driven.log.flush();
      driven.time.drain();
      expect(driven.stored("k")).to.equal(undefined);
      expect(rowCounts(driven.log).slice(before)).to.deep.equal([1]);
    });
  });

  it("does the same again with the same inputs", () => {
    const run = (): unknown => {
      const driven = DrivenReplica.leading({ sliceEntries: 7, syncBytes: 500 });
      for (let at = 0; at < 60; at++) {
        driven.put(`k${at % 5}`, String(at), { ttlSeconds: at % 3 });
        driven.time.advance((at * 37) % 400);
      }
      const writes = driven.log.writes.map(({ rows, ...others }) => [
        others,
        rows.map((row) => Buffer.from(row).toString("hex")),
      ]);
      return [writes, driven.replica.status(), driven.answered.map((call) => call.name)];
    };
    expect(run()).to.deep.equal(run());
  });
});
