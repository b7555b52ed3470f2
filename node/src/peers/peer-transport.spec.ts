import { expect } from "chai";
import {
  CLUSTER_ID,
  type DoubleOptions,
  frameBytes,
  helloTo,
  incarnationOf,
  PeerMemberDouble,
  RawPeer,
  until,
} from "../../test/peers/index.ts";
import { FrameType } from "./frame-type.ts";

const ELSEWHERE = "127.0.0.2";
const { Append, AppendReply, Forward, Heartbeat, Hello, KeptTrace, Ping, Vote } = FrameType;

describe("PeerTransport", () => {
  const members: PeerMemberDouble[] = [];
  const raws: RawPeer[] = [];

  async function start(memberId: number, options?: DoubleOptions): Promise<PeerMemberDouble> {
    const member = await PeerMemberDouble.start(memberId, options);
    members.push(member);
    return member;
  }

  /** Members 1, 2 … that know and reach each other. */
  async function cluster(size: number): Promise<PeerMemberDouble[]> {
    const started: PeerMemberDouble[] = [];
    for (let memberId = 1; memberId <= size; memberId++) {
      started.push(await start(memberId));
    }
    for (const member of started) {
      member.knows(...started.filter((other) => other !== member).map(({ listed }) => listed));
    }
    for (const member of started) {
      for (const other of started.filter((one) => one !== member)) {
        await member.reaches(other.memberId);
      }
    }
    return started;
  }

  async function raw(member: PeerMemberDouble, from?: string): Promise<RawPeer> {
    const peer = await RawPeer.open(member.port, from);
    raws.push(peer);
    return peer;
  }

  const failedDials = ({ logLines }: PeerMemberDouble): number =>
    logLines.filter((line) => line.startsWith("a member could not be reached")).length;

  /** A member whose directory contains member 2, which does not run. */
  async function knowingTwo(options?: DoubleOptions): Promise<PeerMemberDouble> {
    const member = await start(1, options);
    member.directory.set(2, incarnationOf(2));
    return member;
  }

  afterEach(async () => {
    for (const { socket } of raws.splice(0)) {
      socket.destroy();
    }
    for (const member of members.splice(0)) {
      await member.transport.stop();
    }
  });

  describe("frames", () => {
    it("arrive in order on each kind of link, between all members, with their sender", async () => {
      const all = await cluster(3);
      const texts = Array.from({ length: 500 }, (_, at) => `frame ${at}`);
      for (const text of texts) {
        for (const member of all) {
          for (const other of all.filter((one) => one !== member)) {
            expect(member.transport.send(other.memberId, "control", Heartbeat, Buffer.from(text))).to.equal(true);
            expect(member.transport.send(other.memberId, "log", Append, Buffer.from(text))).to.equal(true);
          }
        }
      }
      for (const member of all) {
        member.transport.flush();
      }
      for (const member of all) {
        await until("all frames", () => member.frames.length === 4 * texts.length);
        for (const other of all.filter((one) => one !== member)) {
          expect(member.receivedTexts(other.memberId, "control")).to.deep.equal(texts);
          expect(member.receivedTexts(other.memberId, "log")).to.deep.equal(texts);
        }
        expect(member.unreachable).to.deep.equal([]);
      }
    });

    it("are of the newest protocol that both sides speak", async () => {
      const [one] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      expect(one.transport.protocolOf(2, "log")).to.equal(3);
      expect(one.transport.protocolOf(3, "log")).to.equal(0);
      const older = await raw(one);
      older.hello(1, { protocol: { min: 1, max: 2 } });
      expect(await older.answer()).to.equal(0);
      expect(await older.protocol()).to.equal(2);
    });

    it("that are only offered have no consequence when the queue is full", async () => {
      const one = await start(1, { limits: { queueFramesMax: 2 } });
      const two = await start(2);
      one.knows(two.listed);
      two.knows(one.listed);
      await one.reaches(2);
      const offered = [1, 2, 3].map(() => one.transport.offer(2, "log", KeptTrace, Buffer.from("a trace")));
      expect(offered).to.deep.equal([true, true, false]);
      one.transport.flush();
      await until("both frames", () => two.receivedTexts(1, "log").length === 2);
      expect(one.unreachable).to.deep.equal([]);
    });

    it("leave with a flush and not before", async () => {
      const [one, two] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      expect(one.transport.send(2, "log", Append, Buffer.from("held"))).to.equal(true);
      one.sendText(2, "control", Heartbeat, "first");
      // Both leave with this flush; the order between two connections is undefined.
      await until("both", () => two.frames.length === 2);
      one.transport.send(2, "control", Heartbeat, Buffer.from("waits"));
      two.sendText(1, "control", Heartbeat, "there");
      await until("the other way", () => one.frames.length === 1);
      two.sendText(1, "control", Heartbeat, "and again");
      await until("the other way again", () => one.frames.length === 2);
      expect(two.frames).to.have.length(2);
      one.transport.flush();
      await until("the frame", () => two.frames.length === 3);
    });

    it("distinguish a member whose process is gone: its port refuses connections", async () => {
      const [one, two] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      await two.transport.stop();
      await until("the end of the connection", () => one.unreachable.includes(2));
      expect(one.events).to.not.include("gone 2");
      await until("a dial in vain", () => {
        one.clock.advance(50);
        return one.events.includes("gone 2");
      });
    });

    it("may be larger than the queue if they are alone in it", async () => {
      const [one, two] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      const large = "x".repeat(12 * 1024 * 1024);
      expect(one.sendText(2, "log", Append, large)).to.equal(true);
      await until("the large frame", () => two.frames.length === 1);
      expect(two.receivedTexts(1, "log")).to.deep.equal([large]);
    });

    it("on the control link do not wait for a log link that is full", async () => {
      const [one, two] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      let taken = 0;
      const block = "x".repeat(1024 * 1024);
      // This loop never returns to the event loop, so nothing is read meanwhile.
      while (one.transport.send(2, "log", Append, Buffer.from(block))) {
        taken++;
      }
      expect(taken).to.be.within(7, 8);
      expect(one.sendText(2, "control", Heartbeat, "alive")).to.equal(true);
      await until("everything", () => two.frames.length === taken + 1);
      const position = two.frames.findIndex(({ text }) => text === "alive");
      expect(position).to.be.lessThan(taken);
      expect(one.unreachable).to.deep.equal([2]);
    });

    it("beyond 4,096 are dropped, which the handler learns once the caller is done", async () => {
      const [one, two] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      let taken = 0;
      while (one.transport.send(2, "control", Heartbeat, Buffer.from(`${taken}`))) {
        taken++;
      }
      expect(taken).to.equal(4_096);
      expect(one.transport.send(2, "control", Heartbeat, Buffer.from("too many"))).to.equal(false);
      expect(one.unreachable).to.deep.equal([]);
      one.transport.flush();
      await until("all that was taken", () => two.frames.length === taken);
      expect(one.unreachable).to.deep.equal([2]);
      expect(one.sendText(2, "control", Heartbeat, "again")).to.equal(true);
      await until("the next one", () => two.frames.length === taken + 1);
    });

    it("are not taken for a member that is not connected or not listed", async () => {
      const one = await start(1);
      one.knows({ memberId: 2, incarnation: incarnationOf(2), address: "127.0.0.1:1" });
      expect(one.sendText(2, "control", Heartbeat, "no one")).to.equal(false);
      expect(one.sendText(3, "control", Heartbeat, "no one")).to.equal(false);
      await until("the dial to fail", () => one.logLines.some((line) => line.startsWith("a member could not")));
      expect(one.unreachable).to.deep.equal([]);
    });

    it("that never reached a socket are named when the connection ends", async () => {
      const [one, two] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      one.transport.send(2, "log", Forward, Buffer.from("first"));
      one.transport.send(2, "log", Forward, Buffer.from("second"));
      await two.transport.stop();
      await until("the loss", () => one.unsent.length > 0);
      expect(one.unsent).to.deep.equal([{ peer: 2, kind: "log", texts: ["first", "second"] }]);
      expect(one.unreachable).to.include(2);
    });
  });

  describe("connections", () => {
    it("are made again after a loss, each time after a longer pause, by the backoff", async () => {
      const [one, two] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      const { port } = two;
      await two.transport.stop();
      await until("the loss", () => !one.transport.isConnected(2, "control") && !one.transport.isConnected(2, "log"));
      const isFailed = (count: number) => {
        return one.logLines.filter((line) => /could not be reached .*"log"/.test(line)).length === count;
      };
      // The random number is 0.5, so that waits are exactly the base: 50, 100, 200 … 2,000 ms.
      for (const [at, waitMs] of [50, 100, 200, 400, 800, 1_600, 2_000, 2_000].entries()) {
        await until("two timers", () => one.clock.delaysMs.filter((delay) => delay === waitMs).length === 2);
        one.clock.advance(waitMs - 1);
        expect(one.clock.delaysMs.slice(0, 2)).to.deep.equal([1, 1]);
        one.clock.advance(1);
        await until(`failure ${at + 1}`, () => isFailed(at + 1));
      }
      const again = await start(2, { boot: 2, port });
      again.knows(one.listed);
      await one.reaches(2);
      expect(one.connected.at(-1)).to.include({ peer: 2, boot: 2, restarted: false });
      expect(one.connected.filter(({ restarted }) => restarted)).to.have.length(1);
    });

    it("are dialed at once, during any pause, when the other member connects", async () => {
      const one = await start(1);
      const two = await start(2);
      two.directory.set(1, one.incarnation);
      two.clusterId = null;
      one.knows(two.listed);
      await until("both dials to fail", () => failedDials(one) === 2);
      // The clock stands still: no pause of one ends by itself.
      two.clusterId = one.clusterId;
      two.knows(one.listed);
      await one.reaches(2);
    });

    it("resolve the name again for each dial (P49)", async () => {
      const table = new Map([["two.example", "127.0.0.2"]]);
      const asked: string[] = [];
      const one = await start(1, {
        lookup: (host, _options, callback) => {
          asked.push(host);
          callback(null, [{ address: table.get(host) ?? "127.0.0.9", family: 4 }]);
        },
      });
      const two = await start(2);
      one.knows({ ...two.listed, address: `two.example:${two.port}` });
      await until("a failed dial", () => one.clock.delaysMs.includes(50));
      expect(one.transport.isConnected(2, "control")).to.equal(false);
      two.knows(one.listed);
      await two.reaches(1);
      table.set("two.example", "127.0.0.1");
      one.clock.advance(4_000);
      await one.reaches(2);
      expect(asked.length).to.be.greaterThan(2);
      expect(new Set(asked)).to.deep.equal(new Set(["two.example"]));
    });

    it("go to the announced address while the name is unknown or outdated, else to the name", async () => {
      for (const [name, address] of Object.entries({ unknown: null, stale: "127.0.0.9" })) {
        const asked: string[] = [];
        const one = await start(1, {
          lookup: (host, _options, callback) => {
            asked.push(host);
            const error = address === null ? new Error("no such name") : null;
            callback(error, [{ address: address ?? "", family: 4 }]);
          },
        });
        const two = await start(2, { dialHint: "127.0.0.1" });
        one.knows({ ...two.listed, address: `two.example:${two.port}` });
        await until("a failed dial", () => one.clock.delaysMs.includes(50));
        expect(asked, name).to.not.deep.equal([]);
        // The clock of the first stands still: it dials only because of the announcement.
        two.knows(one.listed);
        await one.reaches(2);
        const sender = one.transport.openSnapshot(2);
        await Promise.all([
          until("the snapshot", () => two.snapshots[0]),
          sender.write(FrameType.SnapshotChunk, Buffer.alloc(1)),
        ]);
        sender.abort();
      }
    });

    it("go to the name again when nothing listens at the announced address", async () => {
      const one = await start(1, {
        lookup: (_host, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]),
      });
      const two = await start(2, { dialHint: "127.0.0.9" });
      two.knows(one.listed);
      one.directory.set(2, two.incarnation);
      await two.reaches(1);
      one.knows({ ...two.listed, address: `two.example:${two.port}` });
      await until("a failed dial", () => one.clock.delaysMs.includes(50));
      one.clock.advance(50);
      await one.reaches(2);
    });

    it("go to the new address of a member that has moved", async () => {
      const one = await start(1);
      const two = await start(2);
      two.directory.set(1, one.incarnation);
      one.knows({ ...two.listed, address: "127.0.0.1:1" });
      await until("a failed dial", () => one.clock.delaysMs.includes(50));
      one.knows(two.listed);
      await one.reaches(2);
    });

    it("end with a member that is no longer listed, in both directions, and leave nothing behind", async () => {
      const [one, two, three] = (await cluster(3)) as [PeerMemberDouble, PeerMemberDouble, PeerMemberDouble];
      one.knows(two.listed);
      expect(one.transport.isConnected(3, "control")).to.equal(false);
      await until("the other end", () => three.unreachable.includes(1) && !three.transport.isConnected(1, "log"));
      three.clock.advance(4_000);
      await until("the refusal", () => three.refusals.some(({ refusal }) => refusal === "REMOVED"));
      expect(three.refusals[0]).to.deep.equal({ peer: 1, refusal: "REMOVED" });
      expect(one.sendText(2, "control", Heartbeat, "still")).to.equal(true);
      await until("the others go on", () => two.receivedTexts(1, "control").length === 1);
    });

    it("that are replaced take their unread frames along; the old end, then the news, then frames (P34)", async () => {
      const one = await knowingTwo();
      const old = await raw(one);
      old.hello(1, { kind: "log" });
      expect(await old.answer()).to.equal(0);
      old.send(Append, Buffer.from("old"));
      await until("the first frame", () => one.frames.length === 1);
      const next = await raw(one);
      next.hello(1, { kind: "log" });
      expect(await next.answer()).to.equal(0);
      old.send(Append, Buffer.from("late"));
      next.send(Append, Buffer.from("new"));
      await old.untilClosed();
      await until("the new frame", () => one.frames.length === 2);
      expect(one.events).to.deep.equal(["connected 2 boot 1", "frame old", "connected 2 boot 1", "frame new"]);
      expect(one.connected.map(({ restarted }) => restarted)).to.deep.equal([false, false]);
    });

    it("of a former boot, of any kind, all end when a higher one appears (P34)", async () => {
      const one = await knowingTwo();
      const source = { ...helloTo(1).source };
      const former: RawPeer[] = [];
      for (const kind of ["control", "log", "snapshot"] as const) {
        const peer = await raw(one);
        peer.hello(1, { kind });
        expect(await peer.answer()).to.equal(0);
        former.push(peer);
      }
      const next = await raw(one);
      next.hello(1, { source: { ...source, boot: 2, damaged: true } });
      expect(await next.answer()).to.equal(0);
      for (const peer of former) {
        peer.send(Heartbeat, Buffer.from("late"));
        await peer.untilClosed();
      }
      next.send(Vote, Buffer.from("new"));
      await until("the new frame", () => one.frames.length === 1);
      expect(one.connected.at(-1)).to.include({ peer: 2, boot: 2, restarted: true, damaged: true });
      expect(one.events.slice(-2)).to.deep.equal(["connected 2 boot 2", "frame new"]);
      const stale = await raw(one);
      stale.hello(1, { kind: "log" });
      expect(await stale.answer()).to.equal(6);
    });

    it("inform both sides of damage, whichever of them has dialed (P46)", async () => {
      const one = await start(1);
      const two = await start(2);
      two.damaged = true;
      one.directory.set(2, two.incarnation);
      two.knows(one.listed);
      await two.reaches(1);
      await until("the connection at who was dialed", () => one.connected.length > 0);
      expect(one.connected.at(-1)).to.include({ peer: 2, damaged: true });
      expect(two.connected.at(-1)).to.include({ peer: 1, damaged: false });
      two.directory.set(1, one.incarnation);
      const dialed = one.connected.length;
      one.knows(two.listed);
      await one.reaches(2);
      expect(one.connected.slice(dialed).every(({ damaged }) => damaged)).to.equal(true);
    });

    it("to a restarted member are left at once when it connects", async () => {
      const one = await start(1);
      const two = await start(2);
      two.directory.set(1, one.incarnation);
      one.knows(two.listed);
      await one.reaches(2);
      const connected = one.connected.length;
      const again = await raw(one);
      again.hello(1, { source: { ...helloTo(1).source, boot: 2 } });
      expect(await again.answer()).to.equal(0);
      await until("the former boot to be left", () => !one.transport.isConnected(2, "log"));
      expect(one.connected[connected]).to.include({ boot: 2, restarted: true });
      expect(one.transport.isConnected(2, "control")).to.equal(false);
      // The earlier boot still answers at the address: the member does not believe it.
      await until("a former boot to be noticed", () => one.logLines.some((line) => line.startsWith("a former boot")));
      expect(one.transport.isConnected(2, "log")).to.equal(false);
    });

    it("are closed when the other side never answers, and when it falls silent", async () => {
      const one = await knowingTwo();
      const half = await raw(one);
      half.hello(1);
      expect(await half.answer()).to.equal(0);
      one.clock.advance(2_500);
      half.send(Ping, new Uint8Array(0));
      half.send(Heartbeat, Buffer.from("alive"));
      await until("a frame", () => one.frames.length === 1);
      one.clock.advance(2_999);
      expect(half.isClosed).to.equal(false);
      one.clock.advance(1);
      await half.untilClosed();
      const pings = half.received.subarray(44);
      expect(pings.length).to.be.at.least(12 * 5);
      expect(pings.subarray(0, 12)).to.deep.equal(frameBytes(Ping, new Uint8Array(0)));
    });

    it("stay while both sides are there, however long", async () => {
      const [one, two] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      for (let second = 0; second < 10; second++) {
        one.clock.advance(1_000);
        two.clock.advance(1_000);
        one.sendText(2, "control", Heartbeat, `${second}`);
        two.sendText(1, "control", Heartbeat, `${second}`);
        await until("a round", () => one.frames.length === second + 1 && two.frames.length === second + 1);
      }
      expect(one.transport.isConnected(2, "log")).to.equal(true);
      expect(two.transport.isConnected(1, "log")).to.equal(true);
      expect(one.unreachable).to.deep.equal([]);
    });

    it("survive a pause of this process: it reads what arrived meanwhile before it gives a member up (P55)", async () => {
      const one = await knowingTwo();
      const peer = await raw(one);
      peer.hello(1);
      expect(await peer.answer()).to.equal(0);
      const sent = new Promise<void>((resolve) => {
        peer.socket.write(frameBytes(Heartbeat, Buffer.from("during the pause")), () => resolve());
      });
      await sent;
      // The timer is due before the event loop has polled the socket again.
      one.clock.advance(20_000);
      await until("the frame", () => one.frames.length === 1);
      expect(peer.isClosed).to.equal(false);
      peer.send(Heartbeat, Buffer.from("after it"));
      await until("the next frame", () => one.frames.length === 2);
    });

    it("leave no timer and no socket behind when the member stops", async () => {
      const [one, two] = (await cluster(2)) as [PeerMemberDouble, PeerMemberDouble];
      await one.transport.stop();
      await until("no timer", () => one.clock.timerCount === 0);
      await until("the loss", () => two.unreachable.includes(1));
      expect(one.unreachable).to.deep.equal([]);
    });
  });

  describe("strangers", () => {
    const refused = [
      ["another cluster", 1, { clusterId: "00000000-0000-4000-8000-000000000000" }],
      ["another target", 2, { target: { memberId: 7, incarnation: incarnationOf(1) } }],
      ["another target's data", 2, { target: { memberId: 1, incarnation: incarnationOf(7) } }],
      ["another protocol", 3, { protocol: { min: 4, max: 9 } }],
      ["a removed member", 4, { source: { ...helloTo(1).source, memberId: 9 } }],
      ["other data", 5, { source: { ...helloTo(1).source, incarnation: incarnationOf(9) } }],
    ] as const;
    for (const [who, code, changes] of refused) {
      it(`are refused: ${who}`, async () => {
        const one = await knowingTwo();
        const peer = await raw(one);
        peer.hello(1, changes);
        expect(await peer.answer()).to.equal(code);
        await peer.untilClosed();
        expect(one.connected).to.deep.equal([]);
      });
    }

    it("that are members, and come before this process has a cluster, are put off without a warning on either side", async () => {
      const joining = await knowingTwo();
      joining.clusterId = null;
      const leader = await start(2);
      leader.knows(joining.listed);
      await until("both dials to fail", () => failedDials(leader) === 2);
      expect(joining.logLines.join()).to.include("does not belong to a cluster yet");
      joining.clusterId = CLUSTER_ID;
      leader.clock.advance(50);
      await leader.reaches(1);
      expect([...leader.refusals, ...leader.warnings, ...joining.warnings]).to.deep.equal([]);
    });

    it("whose id is above the applied index are let in, and judged again when more is applied", async () => {
      const one = await knowingTwo();
      const peer = await raw(one);
      peer.hello(1, { source: { ...helloTo(1).source, memberId: 150 } });
      expect(await peer.answer()).to.equal(0);
      peer.send(Heartbeat, Buffer.from("early"));
      await until("its frame", () => one.receivedTexts(150, "control").length === 1);
      one.certainIndex = 160;
      one.knows({ memberId: 150, incarnation: incarnationOf(150), address: "127.0.0.1:1" });
      await peer.untilClosed();
    });

    it("that are a former boot are STALE, however long ago the newer one was here", async () => {
      const one = await knowingTwo();
      const { source } = helloTo(1);
      const newer = await raw(one);
      newer.hello(1, { source: { ...source, boot: 2 } });
      expect(await newer.answer()).to.equal(0);
      newer.socket.destroy();
      await until("its end", () =>
        one.logLines.some((line) => line.startsWith("the connection of a member has ended")),
      );
      one.knows({ memberId: 2, incarnation: source.incarnation, address: "127.0.0.1:1" });
      const former = await raw(one);
      former.hello(1);
      expect(await former.answer()).to.equal(6);
    });

    it("with a wrong token get no answer at all, and none is logged", async () => {
      const one = await knowingTwo();
      const peer = await raw(one);
      peer.hello(1, { joinToken: "the wrong secret" });
      expect((await peer.untilClosed()).length).to.equal(0);
      expect(one.logLines.join()).not.to.include("the wrong secret");
      expect(one.logLines.join()).to.include("a wrong join token");
    });

    it("may present any accepted token, which may change while the member runs", async () => {
      const one = await knowingTwo();
      one.joinTokens = ["new", "old"];
      const source = helloTo(1).source;
      for (const joinToken of ["old", "new"]) {
        const peer = await raw(one);
        peer.hello(1, { joinToken, source });
        expect(await peer.answer()).to.equal(0);
      }
      one.joinTokens = [];
      const peer = await raw(one);
      peer.hello(1, { joinToken: "" });
      expect(await peer.answer()).to.equal(-1);
    });

    it("that do not introduce themselves in 2 s are dropped, however slowly they talk", async () => {
      const one = await knowingTwo();
      const silent = await raw(one);
      const slow = await raw(one);
      slow.socket.write(frameBytes(Hello, Buffer.from("{}")).subarray(0, 6));
      await until("both to be seen", () => one.clock.timerCount === 2);
      one.clock.advance(1_999);
      expect(silent.isClosed || slow.isClosed).to.equal(false);
      one.clock.advance(1);
      expect((await silent.untilClosed()).length).to.equal(0);
      expect((await slow.untilClosed()).length).to.equal(0);
    });

    it("are bounded in number", async () => {
      const one = await knowingTwo({ limits: { handshakesMax: 2 } });
      const first = await raw(one);
      const second = await raw(one);
      await until("both to be seen", () => one.clock.timerCount === 2);
      const third = await raw(one);
      await third.untilClosed();
      first.hello(1);
      expect(await first.answer()).to.equal(0);
      second.hello(1, { kind: "log" });
      expect(await second.answer()).to.equal(0);
    });

    it("of one address keep no member at another address out", async () => {
      const one = await knowingTwo({ limits: { handshakesMax: 3 } });
      const silent = [await raw(one, ELSEWHERE), await raw(one, ELSEWHERE), await raw(one, ELSEWHERE)];
      await until("them to be seen", () => one.clock.timerCount === 3);
      const member = await raw(one);
      member.hello(1);
      expect(await member.answer()).to.equal(0);
      await silent[0]?.untilClosed();
      expect([silent[1], silent[2]].map((connection) => connection?.isClosed)).to.deep.equal([false, false]);
      const next = await raw(one, ELSEWHERE);
      const refused = await raw(one, ELSEWHERE);
      await refused.untilClosed();
      expect(next.isClosed).to.equal(false);
    });

    it("of many addresses keep no member out that has come from its address before", async () => {
      const one = await knowingTwo({ limits: { handshakesMax: 3 } });
      const silent = [await raw(one, ELSEWHERE), await raw(one, "127.0.0.3"), await raw(one, "127.0.0.4")];
      await until("them to be seen", () => one.clock.timerCount === 3);
      const unknown = await raw(one);
      await unknown.untilClosed();
      silent[0]?.socket.destroy();
      await until("a free place", () => one.clock.timerCount === 2);
      const member = await raw(one);
      member.hello(1);
      expect(await member.answer()).to.equal(0);
      const another = await raw(one, "127.0.0.5");
      await until("it to be seen", () => one.clock.timerCount >= 3);
      const again = await raw(one);
      again.hello(1, { kind: "log" });
      expect(await again.answer()).to.equal(0);
      await silent[1]?.untilClosed();
      expect([silent[2]?.isClosed, another.isClosed]).to.deep.equal([false, false]);
    });

    const broken: readonly (readonly [string, Buffer])[] = [
      ["a frame that is too long", frameBytes(Hello, Buffer.alloc(8 * 1024 + 1)).subarray(0, 12)],
      ["a body that is no handshake", frameBytes(Hello, Buffer.from("no JSON"))],
      ["a wrong checksum", Buffer.concat([frameBytes(Hello, Buffer.from("{}")).subarray(0, 13), Buffer.from("x")])],
      ["a frame of another type", frameBytes(Heartbeat, Buffer.from("x"))],
      ["bytes of another protocol", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n")],
    ];
    for (const [what, bytes] of broken) {
      it(`that send ${what} lose their connection, and no other member does`, async () => {
        const one = await knowingTwo();
        const good = await raw(one);
        good.hello(1);
        expect(await good.answer()).to.equal(0);
        const bad = await raw(one);
        bad.socket.write(bytes);
        expect((await bad.untilClosed()).length).to.equal(0);
        good.send(Heartbeat, Buffer.from("on"));
        await until("the good one", () => one.frames.length === 1);
      });
    }

    const badFrames: readonly (readonly [string, Buffer])[] = [
      ["longer than any frame", Buffer.from("01000001" + "05000000" + "00000000", "hex")],
      ["of a type of another kind", frameBytes(AppendReply, Buffer.alloc(8))],
      ["with a body that the handler refuses", frameBytes(Heartbeat, Buffer.from("not what the type promises"))],
      ["a ping with a body", frameBytes(Ping, Buffer.from("x"))],
    ];
    for (const [what, bytes] of badFrames) {
      it(`that were let in and send a frame ${what} lose that connection only`, async () => {
        const one = await knowingTwo();
        const log = await raw(one);
        log.hello(1, { kind: "log" });
        expect(await log.answer()).to.equal(0);
        const bad = await raw(one);
        bad.hello(1);
        expect(await bad.answer()).to.equal(0);
        bad.socket.write(bytes);
        await bad.untilClosed();
        log.send(Append, Buffer.from("on"));
        await until("the other link", () => one.receivedTexts(2, "log").length === 1);
      });
    }
  });
});
