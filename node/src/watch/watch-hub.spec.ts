import { expect } from "chai";
import { WatchedLog } from "../../test/harness/index.ts";
import { acquireLock, createLock, NAMED, OWNER, putOf, refused } from "../../test/index.ts";
import { CoordinationError, type TransactedOperation } from "../state/index.ts";

describe("WatchHub", () => {
  it("sends the watched changes from now on, and nothing else", () => {
    const watched = new WatchedLog();
    watched.put("a1");
    const reader = watched.watch("a");
    watched.put("a2");
    watched.put("b");
    watched.time.drain();
    watched.put("a");
    watched.put("A");
    watched.log.result({ kind: "create-namespace", namespace: "other" });
    watched.put("a", "v", "other");
    watched.time.drain();
    expect(reader.lines).to.deep.equal(["created 2:", "changes 4: 3", "changes 8: 5"]);
  });

  it("keeps watches of keys and of locks of the same name apart", () => {
    const watched = new WatchedLog();
    watched.log.result(createLock({ name: "a" }));
    watched.log.result(createLock({ name: "a", rw: true }));
    const keys = watched.watch("a");
    const locks = watched.watch("a", { about: "lock" });
    const others = watched.watch("b", { about: "lock" });
    watched.time.drain();
    watched.put("a");
    watched.log.result(acquireLock({ name: "a" }));
    watched.log.result(acquireLock({ name: "a", mode: "read" }));
    watched.notify();
    watched.time.drain();
    expect(keys.lines).to.deep.equal(["created 3:", "changes 6: 4"]);
    expect(locks.lines).to.deep.equal(["created 3:", "changes 6: 5 6"]);
    expect(others.lines).to.deep.equal(["created 3:"]);
    const again = watched.watch("", { about: "lock", startRevision: 1 });
    watched.time.drain();
    expect(again.lines).to.deep.equal(["created 0:", "changes 6: 5 6"]);
  });

  it("S37: sends all changes of one revision in one message, however small the limit of messages is", () => {
    const watched = new WatchedLog({ messageBytes: 1 });
    watched.log.result(createLock({ rw: true }));
    const locks = watched.watch("", { about: "lock" });
    watched.log.result(acquireLock({ mode: "read" }));
    watched.log.result(acquireLock({ mode: "read" }));
    watched.log.result({ kind: "force-release-lock", ...NAMED, rw: true, fencingToken: 0, reason: "" });
    watched.notify();
    watched.time.drain();
    expect(locks.lines).to.deep.equal(["created 2:", "changes 3: 3", "changes 4: 4", "changes 5: 5 5"]);
  });

  it("S37: divides a revision only if it is large, says so, and resumes before it", () => {
    const watched = new WatchedLog({ partBytes: 1_000 });
    const put = (key: string, length: number) => putOf(key, "v".repeat(length));
    const transact = (success: readonly TransactedOperation[]) => {
      const asked = { namespace: "default", conditions: [], success, failure: [] };
      watched.log.result({ kind: "transact", ...asked });
      watched.notify();
    };
    const slow = watched.watch("a", {}, false);
    const live = watched.watch("a");
    watched.time.drain();
    watched.put("a0");
    transact([put("a1", 500), put("b", 1_400), put("a2", 400), put("a3", 2_000), put("a4", 1), put("a5", 1)]);
    transact([put("a6", 100), put("a7", 100)]);
    const rest = ["part 2: 3", "part 2: 3", "changes 4: 3 3 4 4"];
    watched.time.drain();
    expect(live.lines).to.deep.equal(["created 1:", "part 2: 2 3", ...rest]);
    for (let message = 0; message < 5; message++) {
      slow.take();
      watched.time.drain();
    }
    expect(slow.lines).to.deep.equal(live.lines);
    const changed = live.messages.flatMap(({ changes }) => changes.map(({ name }) => Buffer.from(name).toString()));
    expect(changed).to.deep.equal(["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"]);
    const resumed = watched.watch("a", { startRevision: 3 });
    watched.time.drain();
    expect(resumed.lines).to.deep.equal(["created 2:", "part 2: 3", ...rest]);
  });

  it("S37: continues from any kept revision, also the newest, without a gap or a repetition", () => {
    const watched = new WatchedLog();
    for (let at = 0; at < 6; at++) {
      watched.put(at % 2 === 0 ? "even" : "odd");
    }
    const changed = { even: [2, 4, 6], odd: [3, 5, 7] };
    for (const [prefix, revisions] of Object.entries(changed)) {
      for (let startRevision = 1; startRevision <= 8; startRevision++) {
        const reader = watched.watch(prefix, { startRevision });
        watched.time.drain();
        const wanted = revisions.filter((revision) => revision >= startRevision);
        expect(reader.lines).to.deep.equal([
          `created ${startRevision - 1}:`,
          ...(wanted.length === 0 ? [] : [["changes 7:", ...wanted].join(" ")]),
        ]);
      }
    }
  });

  it("S37: begins at the requested revision, however much is applied but not yet published", () => {
    const watched = new WatchedLog();
    watched.watch("");
    watched.time.drain();
    watched.put("b");
    watched.put("a");
    const reader = watched.watch("a", { startRevision: 2 });
    watched.time.drain();
    expect(reader.lines).to.deep.equal(["created 1:", "changes 3: 3"]);
  });

  it("S37: waits for a start that is ahead, and sends neither changes nor progress before it (etcd#20221)", () => {
    const watched = new WatchedLog();
    const reader = watched.watch("", { startRevision: 5, progressIntervalMs: 100 });
    watched.put("a");
    watched.put("b");
    watched.time.advance(500);
    expect(reader.lines).to.deep.equal(["created 4:"]);
    watched.put("c");
    watched.time.drain();
    expect(reader.lines).to.deep.equal(["created 4:", "progress 4:"]);
    watched.put("d");
    watched.time.drain();
    expect(reader.lines).to.deep.equal(["created 4:", "progress 4:", "changes 5: 5"]);
  });

  it("S37: sends progress after the changes before it (etcd#15220)", () => {
    const watched = new WatchedLog();
    const reader = watched.watch("a", { progressIntervalMs: 100 }, false);
    watched.time.drain();
    watched.put("b");
    watched.put("a");
    watched.put("b");
    watched.time.advance(1_000);
    expect(reader.lines, "one message at a time").to.deep.equal(["created 1:"]);
    reader.take();
    watched.time.drain();
    expect(reader.lines.slice(1)).to.deep.equal(["changes 4: 3"]);
    watched.put("b");
    reader.take();
    watched.time.advance(49);
    expect(reader.lines.slice(2)).to.deep.equal([]);
    watched.time.advance(51);
    expect(reader.lines.slice(2)).to.deep.equal(["progress 5:"]);
  });

  it("sends progress at the requested interval, and not while there are changes", () => {
    const watched = new WatchedLog();
    const often = watched.watch("a", { progressIntervalMs: 100 });
    const seldom = watched.watch("a", { progressIntervalMs: 1_000 });
    watched.time.advance(1_050);
    expect(often.lines.filter((line) => line.startsWith("progress"))).to.have.length(10);
    expect(seldom.lines.filter((line) => line.startsWith("progress"))).to.have.length(1);
    for (let at = 0; at < 20; at++) {
      watched.put("a");
      watched.time.advance(50);
    }
    expect(seldom.lines.filter((line) => line.startsWith("progress"))).to.have.length(1);
  });

  it("S38: keeps one message for a slow watcher, and sends all of the rest when it is taken", () => {
    const watched = new WatchedLog({ recentBytesMax: 20_000, messageBytes: 2_000 });
    const slow = watched.watch("", {}, false);
    const quick = watched.watch("");
    for (let at = 0; at < 100; at++) {
      watched.put(`k${at}`);
      watched.time.drain();
      expect(slow.untaken).to.equal(1);
    }
    for (let guard = 0; slow.untaken > 0 && guard < 200; guard++) {
      slow.take();
      watched.time.drain();
    }
    const revisionsOf = (reader: typeof slow) =>
      reader.messages.flatMap(({ changes }) => changes.map((change) => change.revision));
    expect(revisionsOf(slow)).to.deep.equal(Array.from({ length: 100 }, (_, at) => at + 2));
    expect(revisionsOf(quick)).to.deep.equal(revisionsOf(slow));
    expect(slow.messages.length).to.be.within(4, 10);
  });

  it("shares one encoding of a change among all watchers with the same variant", () => {
    const watched = new WatchedLog();
    const readers = Array.from({ length: 50 }, () => watched.watch("a"));
    watched.time.drain();
    watched.put("a");
    watched.time.drain();
    let encodings = 0;
    for (const variant of [0, 1]) {
      const made = new Set(
        readers.map((reader) =>
          reader.messages.at(-1)?.changes[0]?.encoded(variant, () => {
            encodings++;
            return Uint8Array.of(variant);
          }),
        ),
      );
      expect([...made]).to.deep.equal([Uint8Array.of(variant)]);
    }
    expect(encodings).to.equal(2);
  });

  it("S38: serves a watcher that is far behind in turns, so that others do not wait", () => {
    const watched = new WatchedLog({ recentBytesMax: 1, readRevisionsMax: 10, servedPerTurn: 2 });
    for (let at = 0; at < 1_000; at++) {
      watched.put("a");
    }
    const far = watched.watch("none", { startRevision: 1, progressIntervalMs: 100 });
    const near = watched.watch("b");
    watched.time.turn();
    watched.time.turn();
    watched.put("b");
    let turns = 0;
    for (; near.messages.length < 2 && turns < 1_000; turns++) {
      watched.time.turn();
    }
    expect(turns, "long before the other one is through").to.be.below(5);
    watched.time.stall(100);
    for (turns = 0; far.messages.length < 2 && turns < 1_000; turns++) {
      watched.time.turn();
    }
    expect(far.messages[1]?.kind).to.equal("progress");
    expect(far.messages[1]?.revision, "as far as it was read for it").to.be.below(1_000);
  });

  it("bounds the work of one turn", () => {
    const watched = new WatchedLog({ servedPerTurn: 10 });
    const readers = Array.from({ length: 100 }, () => watched.watch("a"));
    watched.time.turn();
    expect(readers.filter(({ messages }) => messages.length > 0)).to.have.length(10);
    watched.time.drain();
    expect(readers.filter(({ messages }) => messages.length > 0)).to.have.length(100);
  });

  describe("when history is dropped", () => {
    it("refuses a start before it, and reports the first possible start", async () => {
      const watched = new WatchedLog({}, { revisionsMax: 3 });
      for (let at = 0; at < 9; at++) {
        watched.put("a");
      }
      watched.trim();
      const error = await refused(() => watched.watch("a", { startRevision: 7 }));
      expect([error.code, error.reason]).to.deep.equal(["OUT_OF_RANGE", "COMPACTED"]);
      expect(error.details).to.deep.equal(new Map([["compact_revision", "8"]]));
      const reader = watched.watch("a", { startRevision: 8 });
      watched.time.drain();
      expect(reader.lines).to.deep.equal(["created 7:", "changes 10: 8 9 10"]);
    });

    it("ends a watcher that is further behind, instead of leaving something out (etcd#18089)", () => {
      const watched = new WatchedLog({}, { revisionsMax: 3 });
      const slow = watched.watch("a", {}, false);
      const idle = watched.watch("b");
      watched.time.drain();
      for (let at = 0; at < 9; at++) {
        watched.put("a");
      }
      watched.time.drain();
      watched.trim();
      watched.put("b");
      watched.time.drain();
      expect(idle.lines).to.deep.equal(["created 1:", "changes 11: 11"]);
      expect(slow.ended).to.equal(null);
      slow.take();
      watched.time.drain();
      expect(slow.lines).to.deep.equal(["created 1:"]);
      expect(slow.ended?.reason).to.equal("COMPACTED");
      expect(slow.ended?.details).to.deep.equal(new Map([["compact_revision", "8"]]));
    });

    describe("by an administrator", () => {
      /** Two watchers; then everything below the applied revision is dropped, in the turn that wrote it. */
      function compacted() {
        const watched = new WatchedLog();
        const quick = watched.watch("a");
        const slow = watched.watch("a", {}, false);
        watched.time.drain();
        for (let at = 0; at < 5; at++) {
          watched.put("a");
        }
        watched.log.lead({ kind: "compact-history", revision: 1_000, subject: "admin", request: null });
        watched.notify();
        return { watched, quick, slow };
      }

      it("refuses to begin below it, and continues all watches, also if it came before the changes", () => {
        const { watched, quick, slow } = compacted();
        expect(() => watched.watch("a", { startRevision: 5 })).to.throw(CoordinationError);
        watched.time.drain();
        slow.take();
        watched.time.drain();
        for (const reader of [quick, slow]) {
          expect(reader.lines).to.deep.equal(["created 1:", "changes 6: 2 3 4 5 6"]);
        }
      });

      it("ends a watcher that is further behind when the changes are dropped", () => {
        const { watched, quick, slow } = compacted();
        watched.time.drain();
        watched.trim();
        watched.put("a");
        slow.take();
        watched.time.drain();
        expect(slow.lines).to.deep.equal(["created 1:"]);
        expect(slow.ended?.details).to.deep.equal(new Map([["compact_revision", "6"]]));
        expect(quick.lines).to.deep.equal(["created 1:", "changes 6: 2 3 4 5 6", "changes 7: 7"]);
      });
    });

    it("ends the watchers that miss changes which an installed snapshot lacks, and continues the others", () => {
      const watched = new WatchedLog({}, { revisionsMax: 3 });
      const now = watched.watch("a");
      const ahead = watched.watch("a", { startRevision: 9 });
      watched.time.drain();
      // Everything in one step, as a snapshot brings it.
      for (let at = 0; at < 9; at++) {
        watched.log.result(putOf("a", "v"));
      }
      watched.trim();
      watched.time.drain();
      expect(now.ended?.reason).to.equal("COMPACTED");
      expect(ahead.lines).to.deep.equal(["created 8:", "changes 10: 9 10"]);
    });

    it("tells a watcher that is ahead of what a snapshot lacks each change behind that", () => {
      const watched = new WatchedLog({}, { ageMsMax: 1_000 });
      const now = watched.watch("a");
      const ahead = watched.watch("a", { startRevision: 9 });
      watched.time.drain();
      for (let at = 0; at < 9; at++) {
        watched.log.tickMs += at === 6 ? 2_000 : 0;
        watched.log.result(putOf("a", "v"));
      }
      watched.trim();
      watched.time.drain();
      expect(now.ended?.reason).to.equal("COMPACTED");
      expect(now.ended?.details.get("compact_revision")).to.equal("8");
      expect(ahead.lines).to.deep.equal(["created 8:", "changes 10: 9 10"]);
      const again = watched.watch("a", { startRevision: 8 });
      watched.time.drain();
      expect(again.lines).to.deep.equal(["created 7:", "changes 10: 8 9 10"]);
    });

    it("ends those of the namespace whose changes it lacks, and tells those of others everything", () => {
      const watched = new WatchedLog({}, { revisionsMax: 4 });
      watched.log.result({ kind: "create-namespace", namespace: "busy" });
      const quiet = watched.watch("a");
      const busy = watched.watch("a", { namespace: "busy" });
      const ahead = watched.watch("a", { namespace: "busy", startRevision: 11 });
      watched.time.drain();
      const first = watched.log.revision;
      for (const namespace of ["default", ...Array.from({ length: 9 }, () => "busy"), "default"]) {
        watched.log.result(putOf("a", "v", { namespace }));
      }
      watched.trim();
      watched.time.drain();
      expect(busy.ended?.reason).to.equal("COMPACTED");
      expect(busy.ended?.details.get("compact_revision")).to.equal(String(first + 9));
      expect(ahead.lines).to.deep.equal(["created 10:", "changes 13: 11 12"]);
      expect(quiet.lines).to.deep.equal([`created ${first}:`, `changes 13: ${first + 1} 13`]);
      expect(() => watched.watch("a", { namespace: "busy", startRevision: first })).to.throw("no longer kept");
      expect(watched.watch("a", { startRevision: first }).ended).to.equal(null);
    });
  });

  describe("ends", () => {
    it("S39: a watcher that lost its access, within a second and without another message", () => {
      const watched = new WatchedLog();
      const readers = Array.from({ length: 40 }, () => watched.watch("a", { progressIntervalMs: 100 }));
      watched.time.advance(1_000);
      expect(readers.every(({ rechecks }) => rechecks > 0)).to.equal(true);
      const revoked = readers[17] as (typeof readers)[number];
      revoked.refusal = new CoordinationError("TOKEN_REVOKED", "revoked");
      watched.time.advance(600);
      expect(revoked.ended).to.equal(revoked.refusal);
      const told = revoked.messages.length;
      watched.put("a");
      watched.time.advance(600);
      expect(revoked.messages).to.have.length(told);
      expect(readers.filter(({ ended }) => ended !== null)).to.have.length(1);
    });

    it("all when the member stops, with progress and the revision to continue from", async () => {
      const watched = new WatchedLog({ servedPerTurn: 4 });
      const quick = watched.watch("a");
      const slow = watched.watch("a", {}, false);
      const ahead = watched.watch("a", { startRevision: 50 });
      const others = Array.from({ length: 20 }, () => watched.watch("b"));
      watched.time.drain();
      watched.put("a");
      watched.put("b");
      watched.time.drain();
      watched.hub.drain();
      watched.time.drain();
      expect(quick.lines).to.deep.equal(["created 1:", "changes 3: 2", "progress 3:"]);
      expect(slow.lines, "it lacks the change").to.deep.equal(["created 1:", "progress 1:"]);
      expect(ahead.lines).to.deep.equal(["created 49:"]);
      for (const [reader, resume] of [
        [quick, "4"],
        [slow, "2"],
        [ahead, "50"],
      ] as const) {
        expect(reader.ended?.reason).to.equal("SHUTTING_DOWN");
        expect(reader.ended?.details).to.deep.equal(new Map([["resume_revision", resume]]));
      }
      expect(others.every(({ ended }) => ended !== null)).to.equal(true);
      expect((await refused(() => watched.watch("a"))).reason).to.equal("SHUTTING_DOWN");
      expect([watched.time.timerCount, watched.observers.size]).to.deep.equal([0, 0]);
    });

    it("all when the member has had no leader for a second, and not before", () => {
      const watched = new WatchedLog();
      const reader = watched.watch("a");
      watched.time.advance(300);
      watched.leaderId = 0;
      watched.time.advance(950);
      watched.leaderId = 2;
      watched.time.advance(100);
      watched.leaderId = 0;
      watched.time.advance(950);
      expect(reader.ended).to.equal(null);
      watched.time.advance(150);
      expect(reader.ended?.reason).to.equal("NO_LEADER");
    });

    it("all when the member lags behind for more than a second", () => {
      const watched = new WatchedLog();
      const reader = watched.watch("a");
      watched.lagMs = 1_000;
      watched.time.advance(2_000);
      expect(reader.ended).to.equal(null);
      watched.lagMs = 1_001;
      watched.time.advance(100);
      expect(reader.ended?.reason).to.equal("NO_LEADER");
    });

    it("all when the member no longer serves a cluster", async () => {
      const watched = new WatchedLog();
      const reader = watched.watch("a");
      watched.isServing = false;
      watched.time.advance(100);
      expect(reader.ended?.reason).to.equal("NO_LEADER");
      expect((await refused(() => watched.watch("a"))).reason).to.equal("NO_LEADER");
    });
  });

  it("refuses more streams than the limit of a member, and counts each until it ends", async () => {
    const watched = new WatchedLog({ streamsMax: 2 });
    const first = watched.watch("a");
    first.refusal = new CoordinationError("TOKEN_EXPIRED", "expired");
    watched.watch("a");
    watched.time.advance(1_000);
    expect(first.ended).not.to.equal(null);
    expect((await refused(() => watched.watch("a"))).reason).to.equal("TOO_MANY_STREAMS");
    first.close();
    watched.watch("a");
  });

  it("refuses more streams of one namespace than its quota, and counts each until it ends", async () => {
    const watched = new WatchedLog();
    const limit = (value: string) => {
      const values = [{ name: "quota.namespace.default.watches", value }];
      watched.log.lead({ kind: "put-settings", values, ifRevision: 0, subject: "admin", request: null });
    };
    limit("2");
    const first = watched.watch("a");
    watched.watch("a");
    const refusal = await refused(() => watched.watch("b"));
    expect([refusal.code, refusal.reason]).to.deep.equal(["RESOURCE_EXHAUSTED", "QUOTA"]);
    expect(Object.fromEntries(refusal.details)).to.deep.equal({
      quota: "quota.namespace.watches",
      namespace: "default",
      limit: "2",
      used: "2",
    });
    watched.watch("a", { namespace: "other" });
    first.close();
    watched.watch("b");
    expect((await refused(() => watched.watch("b"))).reason).to.equal("QUOTA");
    limit("3");
    watched.watch("b");
    expect((await refused(() => watched.watch("b"))).reason).to.equal("QUOTA");
  });

  it("keeps nothing running without watchers", () => {
    const watched = new WatchedLog();
    const readers = [watched.watch("a"), watched.watch("a"), watched.watch("b")];
    watched.time.drain();
    expect([watched.time.timerCount, watched.observers.size]).to.deep.equal([1, 1]);
    for (const reader of readers) {
      reader.close();
    }
    expect([watched.time.timerCount, watched.observers.size]).to.deep.equal([0, 0]);
    watched.put("a");
    watched.time.drain();
    expect(readers[0]?.lines).to.deep.equal(["created 1:"]);
    const again = watched.watch("a");
    watched.put("a");
    watched.time.drain();
    expect(again.lines).to.deep.equal(["created 2:", "changes 3: 3"]);
  });

  it("lists its streams by their numbers, with who watches what since when, and how far behind each is", () => {
    const watched = new WatchedLog();
    const quick = watched.watch("a");
    const slow = watched.watch("b", { namespace: "default", startRevision: watched.log.revision + 1 }, false);
    watched.watch("", { about: "lock" });
    watched.time.drain();
    const base = watched.log.revision;
    watched.time.advance(700);
    watched.put("b1");
    watched.put("b2");
    watched.time.drain();
    const all = { namespace: null, after: 0, countMax: 100 };
    const shown = watched.hub
      .openStreams(all)
      .map(({ number, about, prefix, principal, openMs, start, ...rest }) => [
        ...[number, about, Buffer.from(prefix).toString(), principal, openMs, start],
        ...[rest.delivered, rest.behind, rest.isSending, rest.logId],
      ]);
    expect(shown).to.deep.equal([
      [1, "key", "a", OWNER, 700, base + 1, base + 2, 0, false, null],
      [2, "key", "b", OWNER, 700, base + 1, base, 2, true, null],
      [3, "lock", "", OWNER, 700, base + 1, base + 2, 0, false, null],
    ]);
    const numbers = (selection: object) =>
      watched.hub.openStreams({ ...all, ...selection }).map(({ number }) => number);
    expect(numbers({ after: 1, countMax: 1 })).to.deep.equal([2]);
    expect(numbers({ namespace: "none" })).to.deep.equal([]);
    expect(numbers({ namespace: "default" })).to.deep.equal([1, 2, 3]);
    for (const reader of [quick, slow]) {
      reader.close();
    }
    expect(numbers({})).to.deep.equal([3]);
  });
});
