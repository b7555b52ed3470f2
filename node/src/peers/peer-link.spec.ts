import { lookup as systemLookup } from "node:dns";
import type { Socket } from "node:net";
import { expect } from "chai";
import {
  answerBytes,
  FakePeerClock,
  frameBytes,
  incarnationOf,
  PeerMemberDouble,
  RawAcceptor,
  until,
} from "../../test/peers/index.ts";
import { FrameType } from "./frame-type.ts";
import { DEFAULT_PEER_LIMITS } from "./limits.ts";
import { PeerLink } from "./peer-link.ts";

/** The dialing side, against a port that answers as each spec requires. */
describe("PeerLink", () => {
  const members: PeerMemberDouble[] = [];
  const acceptors: RawAcceptor[] = [];

  async function dialing(onHello: (socket: Socket) => void): Promise<[PeerMemberDouble, RawAcceptor]> {
    const acceptor = await RawAcceptor.open();
    acceptors.push(acceptor);
    acceptor.onHello = onHello;
    const one = await PeerMemberDouble.start(1);
    members.push(one);
    one.knows({ memberId: 2, incarnation: incarnationOf(2), address: acceptor.address });
    return [one, acceptor];
  }

  afterEach(async () => {
    for (const acceptor of acceptors.splice(0)) {
      acceptor.close();
    }
    for (const member of members.splice(0)) {
      await member.transport.stop();
    }
  });

  it("gives up a dial without an answer after 3 s, and dials again", async () => {
    let hellos = 0;
    const [one, acceptor] = await dialing(() => {
      hellos++;
    });
    await until("both dials", () => hellos === 2);
    one.clock.advance(3_000);
    await until("both to be given up", () => acceptor.sockets.every(({ destroyed }) => destroyed));
    one.clock.advance(50);
    await until("two more", () => hellos === 4);
    expect(one.transport.isConnected(2, "log")).to.equal(false);
    expect(one.unreachable).to.deep.equal([]);
  });

  it("gives up a connection on which the other side falls silent for 3 s (half-open)", async () => {
    const [one, acceptor] = await dialing((socket) => socket.write(answerBytes(0)));
    await one.reaches(2);
    one.clock.advance(2_999);
    expect(one.transport.isConnected(2, "log")).to.equal(true);
    one.clock.advance(1);
    await until("the loss", () => !one.transport.isConnected(2, "log") && !one.transport.isConnected(2, "control"));
    expect(one.unreachable.every((peer) => peer === 2)).to.equal(true);
    await until("both to be closed", () => acceptor.sockets.slice(0, 2).every(({ destroyed }) => destroyed));
  });

  it("knows that a member speaks only an older protocol, so that it gets no newer frames", async () => {
    const [one] = await dialing((socket) => socket.write(answerBytes(0)));
    await one.reaches(2);
    expect(one.transport.protocolOf(2, "log")).to.equal(1);
  });

  const refusals = ["WRONG_CLUSTER", "WRONG_TARGET", "VERSION", "REMOVED", "WRONG_INCARNATION", "STALE"] as const;
  for (const [at, refusal] of refusals.entries()) {
    it(`reports ${refusal}, and asks again later`, async () => {
      let hellos = 0;
      const [one] = await dialing((socket) => {
        hellos++;
        socket.end(answerBytes(at + 1));
      });
      await until("both refusals", () => one.refusals.length === 2);
      expect(one.refusals).to.deep.equal([
        { peer: 2, refusal },
        { peer: 2, refusal },
      ]);
      one.clock.advance(50);
      await until("two more", () => hellos === 4);
    });
  }

  const wrong: readonly (readonly [string, Buffer])[] = [
    ["an answer that is none", frameBytes(FrameType.Answer, Buffer.alloc(32, 0xff))],
    ["an answer that is too short", frameBytes(FrameType.Answer, Buffer.alloc(8))],
    ["something else", frameBytes(FrameType.Heartbeat, Buffer.alloc(8))],
    ["noise", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ];
  for (const [what, bytes] of wrong) {
    it(`does not use a connection that begins with ${what}, and dials again`, async () => {
      let hellos = 0;
      const [one] = await dialing((socket) => {
        hellos++;
        socket.write(bytes);
      });
      await until("both pauses", () => one.clock.delaysMs.filter((delay) => delay === 50).length === 2);
      expect(one.connected).to.deep.equal([]);
      one.clock.advance(50);
      await until("two more", () => hellos === 4);
    });
  }

  it("gives up an old connection that the other side keeps when it is to be renewed, and dials again", async () => {
    const acceptor = await RawAcceptor.open({ allowHalfOpen: true });
    acceptors.push(acceptor);
    acceptor.onHello = (socket) => socket.write(answerBytes(0));
    const clock = new FakePeerClock();
    const handler = await PeerMemberDouble.start(1);
    members.push(handler);
    const environment = {
      clock,
      handler,
      random: () => 0.5,
      log: { info: () => {}, warn: () => {} },
      lookup: systemLookup,
      dialHint: null,
      joinTokens: () => [],
      tls: null,
      limits: DEFAULT_PEER_LIMITS,
    };
    const events: string[] = [];
    const member = { memberId: 2, incarnation: incarnationOf(2), address: acceptor.address };
    const link = new PeerLink(environment, member, "log", {
      hello: () => Buffer.from("hello"),
      dialHint: () => null,
      onAccepted: () => ({
        incarnation: member.incarnation,
        boot: 1,
        restarted: false,
        damaged: false,
        versions: null,
      }),
      onUsable: () => events.push("usable"),
      onRefused: () => events.push("refused"),
      onLost: (_link, unsent) => events.push(`lost with ${unsent.length}`),
      onFailed: () => events.push("failed"),
    });
    try {
      await until("the first connection", () => link.isUsable);
      expect(link.send(FrameType.Append, Buffer.from("not flushed"))).to.equal(true);
      link.renewWithin(1_000);
      clock.advance(500);
      await until("the end of the first one's half", () => !link.isUsable);
      expect(link.send(FrameType.Append, Buffer.from("too late"))).to.equal(false);
      expect(events).to.deep.equal(["usable"]);
      // The other side is alive and keeps the connection; the dial waits for it in vain.
      for (let second = 0; second < 3; second++) {
        acceptor.sockets[0]?.write(frameBytes(FrameType.Ping, new Uint8Array(0)));
        clock.advance(1_000);
      }
      await until("the dial to be given up", () => events.includes("failed"));
      expect(events).to.deep.equal(["usable", "failed", "lost with 1"]);
      clock.advance(50);
      await until("the next connection", () => link.isUsable);
    } finally {
      link.close("the spec is over");
    }
  });

  it("loses a connection on which the other side sends other frames than pings", async () => {
    const [one] = await dialing((socket) => {
      socket.write(Buffer.concat([answerBytes(0), frameBytes(FrameType.Heartbeat, Buffer.alloc(8))]));
    });
    await until("both losses", () => one.logLines.filter((line) => line.includes("does not belong here")).length === 2);
    expect(one.frames).to.deep.equal([]);
    expect(one.transport.isConnected(2, "control")).to.equal(false);
  });
});
