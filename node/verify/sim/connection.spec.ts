import { expect } from "chai";
import { Connection, type ConnectionEnd } from "./connection.ts";
import { EventHeap } from "./event-heap.ts";
import { Network } from "./network.ts";
import { ProcessLoop } from "./process-loop.ts";
import { streamsOf } from "./random.ts";
import { Trace } from "./trace.ts";

const FRAME = { type: 1, body: new Uint8Array(3) };

describe("a connection of simulated processes", () => {
  let heap: EventHeap;
  let network: Network;
  let dialer: ConnectionEnd;
  let acceptor: ConnectionEnd;
  let connection: Connection;
  let heard: string[];

  function end(memberId: number): ConnectionEnd {
    const loop = new ProcessLoop({
      heap,
      random: streamsOf(memberId).process,
      rate: 1,
      wallStartMs: 0,
      onCrash: () => expect.fail("it crashes"),
      onRound: () => undefined,
      onMark: () => undefined,
    });
    return { memberId, loop, describe: () => "frame", notifyGone: () => undefined };
  }

  beforeEach(() => {
    heap = new EventHeap();
    const plan = { delayMs: 1, delayMsMin: 1, slowShare: 0, slowMs: 0, socketBytes: 10_000 };
    network = new Network(heap, streamsOf(1).network, new Trace(() => heap.nowMs, null), plan);
    [dialer, acceptor] = [end(1), end(2)];
    heard = [];
    connection = new Connection(network, dialer, acceptor, "1>2 log", {
      onFrame: () => heard.push("frame"),
      onDialerLost: () => undefined,
      onAcceptorLost: () => heard.push("end"),
    });
  });

  function sendAndEnd(): void {
    connection.send(FRAME);
    connection.flush();
    heap.at(100, () => connection.closeBy(dialer, "its process has ended"));
  }

  it("delivers what has arrived before its end, once a paused process goes on", () => {
    acceptor.loop.pause(500);
    sendAndEnd();
    heap.runUntil(600);
    expect(heard).to.deep.equal(["frame", "end"]);
  });

  it("P34: delivers nothing after the accepting side has closed it, even if the other side had ended it before", () => {
    acceptor.loop.pause(500);
    acceptor.loop.arrive(() => connection.closeBy(acceptor, "its member has restarted"));
    sendAndEnd();
    heap.runUntil(600);
    expect(heard).to.deep.equal(["end"]);
  });
});
