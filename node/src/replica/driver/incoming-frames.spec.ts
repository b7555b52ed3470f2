import { expect } from "chai";
import fc from "fast-check";
import { FakeTime } from "../../../test/harness/index.ts";
import { OWNER, putOf, requestOf } from "../../../test/index.ts";
import {
  encodeForward,
  encodeForwarded,
  encodeForwardRefused,
  encodeLeaderReply,
  encodeLeaderRequest,
  encodeLeaderTick,
  encodeMessage,
  type Frame,
  FrameError,
  FrameType,
  messageType,
} from "../../peers/index.ts";
import { EntryType, type Message } from "../../raft/index.ts";
import { encodeCommand, encodeMembershipEntry } from "../../state/index.ts";
import { IncomingFrames } from "./incoming-frames.ts";

const HEARTBEAT: Message = { type: "heartbeat", from: 1, to: 2, term: 5, commit: 3, readPosition: 4 };
const COMMAND = encodeCommand({ principal: OWNER, request: requestOf(1), operation: putOf("k", "v") });
const SLOT = encodeMembershipEntry({
  subject: "spec",
  request: null,
  expectIndex: 0,
  operation: { kind: "add-slot", name: "x" },
});

const messageFrame = (message: Message): Frame => ({ type: messageType(message), body: encodeMessage(message) });

function forward(kind: number, row: Uint8Array): Frame {
  return { type: FrameType.Forward, body: encodeForward({ term: 5, attempts: [{ seq: 1, kind, row }] }) };
}

describe("frames of other members", () => {
  let frames: IncomingFrames;
  beforeEach(() => {
    frames = new IncomingFrames({ memberId: 2, timeline: null, clock: new FakeTime() });
  });

  it("are taken once, control before log, each in its order", () => {
    frames.push(1, "log", forward(EntryType.Command, COMMAND));
    frames.push(1, "log", {
      type: FrameType.Forwarded,
      body: encodeForwarded({ term: 5, appended: [{ seq: 1, index: 2 }] }),
    });
    frames.push(1, "control", messageFrame(HEARTBEAT));
    frames.push(1, "control", {
      type: FrameType.ClusterTick,
      body: encodeLeaderTick({ term: 5, tickMs: 7, commitIndex: 1, quorumKnownConfigIndex: 1 }),
    });
    frames.push(1, "control", {
      type: FrameType.Question,
      body: encodeLeaderRequest({ seq: 1, term: 5, kind: "membership" }),
    });
    frames.push(1, "control", {
      type: FrameType.Reply,
      body: encodeLeaderReply({ seq: 1, term: 5, kind: "transfer" }),
    });
    const refused = { seqs: [1], reason: "not-leader", leader: 1, term: 5 };
    frames.push(1, "log", { type: FrameType.Refused, body: encodeForwardRefused(refused) });
    expect(frames.take().map(({ kind }) => kind)).to.deep.equal([
      "message",
      "tick",
      "question",
      "reply",
      "forward",
      "forwarded",
      "refused",
    ]);
    expect([frames.hasMore, frames.take()]).to.deep.equal([false, []]);
  });

  it("one turn takes all control frames, and 1 024 log frames or 8 MiB of them", () => {
    for (let at = 0; at < 1_500; at++) {
      frames.push(1, "control", messageFrame(HEARTBEAT));
      frames.push(1, "log", {
        type: FrameType.Forwarded,
        body: encodeForwarded({ term: 5, appended: [{ seq: at, index: 2 }] }),
      });
    }
    expect(frames.take().length).to.equal(1_500 + 1_024);
    expect(frames.hasMore).to.equal(true);
    expect(frames.take().length).to.equal(1_500 - 1_024);
    const large = encodeCommand({
      principal: OWNER,
      request: requestOf(1),
      operation: putOf("k", "v".repeat(3 << 20)),
    });
    for (let at = 0; at < 5; at++) {
      frames.push(1, "log", forward(EntryType.Command, large));
    }
    expect([frames.take().length, frames.take().length, frames.hasMore]).to.deep.equal([3, 2, false]);
  });

  it("P34: of a peer that has restarted are dropped; those of others, and of a reconnected peer, are not", () => {
    frames.onConnected(1, 4, false);
    frames.push(1, "log", forward(EntryType.Command, COMMAND));
    frames.push(1, "control", messageFrame(HEARTBEAT));
    frames.push(3, "log", forward(EntryType.Command, COMMAND));
    frames.onConnected(1, 4, false);
    expect(frames.take()).to.have.length(3);
    frames.push(1, "log", forward(EntryType.Command, COMMAND));
    frames.push(1, "control", messageFrame(HEARTBEAT));
    frames.push(3, "log", forward(EntryType.Command, COMMAND));
    frames.onConnected(1, 5, true);
    expect(frames.take().map(({ peer }) => peer)).to.deep.equal([3]);
  });

  it("P56: attempts are those of the start that has sent them", () => {
    const boots: unknown[] = [];
    for (const boot of [4, 5]) {
      frames.onConnected(1, boot, boot > 4);
      frames.push(1, "log", forward(EntryType.AddSlot, SLOT));
      boots.push(...frames.take().map((frame) => (frame.kind === "forward" ? frame.boot : frame.kind)));
    }
    expect(boots).to.deep.equal([4, 5]);
  });

  it("a forwarded attempt is checked wholly before anything of it is proposed", () => {
    const wrong: readonly (readonly [string, Frame])[] = [
      ["bytes that are no command", forward(EntryType.Command, Uint8Array.of(1, 2, 3))],
      ["a command with bytes behind it", forward(EntryType.Command, Buffer.concat([COMMAND, Uint8Array.of(0)]))],
      ["bytes that are no change", forward(EntryType.AddSlot, Uint8Array.of(9))],
      ["a change of another type", forward(EntryType.Reconfigure, SLOT)],
      ["an entry that is never forwarded", forward(EntryType.Leave, new Uint8Array(0))],
      ["a founding", forward(EntryType.Bootstrap, new Uint8Array(0))],
      ["a type that is none", forward(200, new Uint8Array(0))],
      ["a frame that is not for the driver", { type: FrameType.SnapshotChunk, body: new Uint8Array(0) }],
    ];
    for (const [name, frame] of wrong) {
      expect(() => frames.push(1, "log", frame), name).to.throw(FrameError);
    }
    expect(frames.take()).to.deep.equal([]);
  });

  it("raise a FrameError and nothing else, whatever their bytes are", () => {
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.tuple(fc.nat(COMMAND.length - 1), fc.nat(255)).map(([at, byte]) => {
        const row = COMMAND.slice();
        row[at] = byte;
        return encodeForward({ term: 5, attempts: [{ seq: 1, kind: EntryType.Command, row }] });
      }),
      fc.tuple(fc.nat(SLOT.length - 1), fc.nat(255)).map(([at, byte]) => {
        const row = SLOT.slice();
        row[at] = byte;
        return encodeForward({ term: 5, attempts: [{ seq: 1, kind: EntryType.AddSlot, row }] });
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(FrameType)), bodies, (type, body) => {
        try {
          frames.push(1, "log", { type, body });
        } catch (error) {
          expect(error).to.be.instanceOf(FrameError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
