import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { writeUint32 } from "../primitives/index.ts";
import { EntryType, encodeEntry, type Message, NO_ENVELOPE, sealEntry } from "../raft/index.ts";
import { FrameError } from "./frame.ts";
import { FrameType } from "./frame-type.ts";
import { decodeMessage, encodeMessage, isMessageType, messageKind, messageType } from "./message-codec.ts";

const HEADER = { from: 2, to: 1, term: 7 };

function row(term: number, index: number, payload = "x"): Uint8Array {
  const bytes = encodeEntry(EntryType.Command, NO_ENVELOPE, Buffer.from(payload));
  sealEntry(bytes, term, index, crc32);
  return bytes;
}

/** One of each type, with numbers that all differ. */
const EXAMPLES: readonly Message[] = [
  { type: "vote", ...HEADER, lastIndex: 11, lastTerm: 6, transfer: true },
  { type: "pre-vote", ...HEADER, lastIndex: 12, lastTerm: 5 },
  { type: "vote-reply", ...HEADER, granted: true, commit: 8, commitTerm: 4 },
  { type: "pre-vote-reply", ...HEADER, granted: false, commit: 9, commitTerm: 3 },
  {
    type: "append",
    ...HEADER,
    prevIndex: 13,
    prevTerm: 5,
    commit: 9,
    wantsReply: true,
    rows: [row(5, 14), row(7, 15, "longer")],
  },
  { type: "append-reply", ...HEADER, index: 1, refused: true, hintIndex: 2, hintTerm: 3, commit: 4, busy: "full" },
  { type: "heartbeat", ...HEADER, commit: 21, readPosition: 22 },
  { type: "heartbeat-reply", ...HEADER, commit: 23, applied: 20, readPosition: 24, watched: true },
  { type: "read-request", ...HEADER, boot: 31, position: 32 },
  { type: "read-reply", ...HEADER, boot: 33, position: 34, index: 35 },
  { type: "timeout-now", ...HEADER },
];

function decode(message: Message, body: Uint8Array): Message {
  return decodeMessage(messageType(message), body, 2, 1);
}

describe("message codec", () => {
  const count = fc.maxSafeNat();

  it("returns every message as it was", () => {
    for (const message of EXAMPLES) {
      expect(decode(message, encodeMessage(message))).to.deep.equal(message);
    }
    expect(new Set(EXAMPLES.map(messageType)).size).to.equal(11);
  });

  it("returns numbers up to 2^53 − 1 as they were", () => {
    fc.assert(
      fc.property(count, count, count, count, fc.boolean(), fc.constantFrom("no", "busy", "full"), (...drawn) => {
        const [term, index, hintIndex, hintTerm, refused, busy] = drawn;
        const fields = { index, refused, hintIndex, hintTerm, commit: hintIndex, busy } as const;
        const message: Message = { type: "append-reply", from: 2, to: 1, term, ...fields };
        expect(decode(message, encodeMessage(message))).to.deep.equal(message);
      }),
    );
  });

  it("refuses each truncation and each longer body", () => {
    for (const message of EXAMPLES) {
      const body = encodeMessage(message);
      for (let length = 0; length < body.length; length++) {
        expect(() => decode(message, body.subarray(0, length)), `${message.type} ${length}`).to.throw(FrameError);
      }
      expect(() => decode(message, Buffer.concat([body, Buffer.alloc(1)]))).to.throw(FrameError);
    }
  });

  it("raises only FrameErrors, with any bytes and type", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ maxLength: 200 }), (type, body) => {
        try {
          decodeMessage(type, body, 2, 1);
        } catch (error) {
          expect(error).to.be.instanceOf(FrameError);
        }
      }),
    );
  });

  it("raises nothing but a FrameError for any changed byte of a message with entries", () => {
    const message = EXAMPLES[4] as Message;
    const body = encodeMessage(message);
    for (let at = 0; at < body.length; at++) {
      for (const value of [0, 1, 0x7f, 0xff]) {
        const changed = Uint8Array.from(body);
        changed[at] = value;
        try {
          decode(message, changed);
        } catch (error) {
          expect(error).to.be.instanceOf(FrameError);
        }
      }
    }
  });

  it("refuses numbers that are not exact, unknown flags and unknown types", () => {
    const flags = encodeMessage({ type: "vote-reply", ...HEADER, granted: true, commit: 8, commitTerm: 4 });
    flags[15] = 2;
    expect(() => decodeMessage(FrameType.VoteReply, flags, 2, 1)).to.throw(FrameError, "unknown value");
    const large = encodeMessage({ type: "timeout-now", ...HEADER });
    large[1] = 0x20;
    expect(() => decodeMessage(FrameType.TimeoutNow, large, 2, 1)).to.throw(FrameError, "2^53");
    expect(() => decodeMessage(12, large, 2, 1)).to.throw(FrameError);
    expect(isMessageType(11)).to.equal(true);
    expect(isMessageType(12)).to.equal(false);
  });

  const badRows: readonly (readonly [string, readonly Uint8Array[]])[] = [
    ["a gap before the first", [row(5, 15)]],
    ["a gap within", [row(5, 14), row(5, 16)]],
    ["an index twice", [row(5, 14), row(5, 14)]],
    ["a term that falls", [row(6, 14), row(5, 15)]],
    ["a term below the previous entry's", [row(4, 14)]],
    ["a term above the leader's", [row(8, 14)]],
    ["a row that is no entry", [new Uint8Array(64)]],
    ["an empty row", [new Uint8Array(0)]],
    ["a flipped bit", [row(5, 14).map((byte, at) => (at === 64 ? byte ^ 1 : byte))]],
    ["a number above 2^53 − 1 under a right checksum", [sealedAgain(row(5, 14), 32)]],
  ];
  for (const [what, rows] of badRows) {
    it(`refuses entries with ${what}`, () => {
      const message: Message = {
        type: "append",
        ...HEADER,
        prevIndex: 13,
        prevTerm: 5,
        commit: 0,
        wantsReply: false,
        rows,
      };
      expect(() => decode(message, encodeMessage(message))).to.throw(FrameError, "an entry is");
    });
  }

  it("copies rows that would keep far more memory than their own", () => {
    const small = { ...(EXAMPLES[4] as Message & { type: "append" }), rows: [row(5, 14)] };
    const roomy = Buffer.alloc(100_000);
    const body = encodeMessage(small);
    roomy.set(body, 1_000);
    const copied = decode(small, roomy.subarray(1_000, 1_000 + body.length)) as Message & { type: "append" };
    expect(copied.rows[0]?.buffer.byteLength).to.be.at.most(16 * 1024);
    expect(copied.rows[0]?.buffer).not.to.equal(roomy.buffer);
    const tight = body.slice();
    const view = decode(small, tight) as Message & { type: "append" };
    expect(view.rows[0]?.buffer).to.equal(tight.buffer);
  });

  it("sends entries and their answers on the log link, all other messages on the control link", () => {
    const onLog = EXAMPLES.filter((message) => messageKind(message) === "log").map(({ type }) => type);
    expect(onLog).to.deep.equal(["append", "append-reply"]);
  });

  it("knows the layout", () => {
    const hex = (position: number) => Buffer.from(encodeMessage(EXAMPLES[position] as Message)).toString("hex");
    const number = (value: number) => value.toString(16).padStart(16, "0");
    expect(hex(0)).to.equal([7, 11, 6, 1].map(number).join(""));
    expect(hex(5)).to.equal([7, 1, 1, 2, 3, 4, 2].map(number).join(""));
    expect(hex(7)).to.equal([7, 23, 20, 24, 1].map(number).join(""));
    expect(hex(4).startsWith(`${[7, 13, 5, 9, 1].map(number).join("")}0000000200000041`)).to.equal(true);
  });
});

/** The row with a number at the offset that is too large, and its checksum right again. */
function sealedAgain(bytes: Uint8Array, offset: number): Uint8Array {
  bytes[offset] = 0xff;
  writeUint32(bytes, 0, crc32(bytes.subarray(4)));
  return bytes;
}
