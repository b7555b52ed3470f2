/** Answers: how they are split, what they wait for, and their order. */
import { expect } from "chai";
import fc from "fast-check";
import {
  data,
  Flag,
  FrameType,
  GRPC_REQUEST,
  LinkedConnection,
  type LinkOptions,
  type ReceivedFrame,
  rstStream,
  Setting,
  settings,
  windowUpdate,
} from "../../test/http2/index.ts";
import { ErrorCode } from "./error-code.ts";

const FIELDS = Object.freeze([":status", "200", "content-type", "application/grpc"]);
const TRAILERS = Object.freeze(["grpc-status", "0"]);
const PREFIX = Buffer.from("12345");

type Settings = readonly (readonly [id: number, value: number])[];

/** A connection with requests on these streams. */
function linkWith(ids: readonly number[], options: LinkOptions = {}, clientSettings: Settings = []): LinkedConnection {
  const link = LinkedConnection.established(options, ...clientSettings);
  for (const id of ids) {
    link.request(id, GRPC_REQUEST, Flag.EndStream);
  }
  return link;
}

/** Each frame as text: its stream, its type, the length or the fields, and a dot at the end of the stream. */
function textOf(frames: readonly ReceivedFrame[]): readonly string[] {
  return frames.map(({ type, flags, streamId, payload, fields }) => {
    const [name = ""] = Object.entries(FrameType).find(([, value]) => value === type) ?? [];
    const content = fields?.join(" ") ?? payload.length;
    const isEnd = (type === FrameType.Data || type === FrameType.Headers) && (flags & Flag.EndStream) !== 0;
    return `${streamId} ${name} ${content}${isEnd ? "." : ""}`;
  });
}

function bytesOf(frames: readonly ReceivedFrame[], id: number): Buffer {
  return Buffer.concat(
    frames.filter(({ type, streamId }) => type === FrameType.Data && streamId === id).map(({ payload }) => payload),
  );
}

describe("the sending half of a connection", () => {
  it("sends a whole answer as fields, one frame of bytes, and trailers", () => {
    const link = linkWith([1]);
    link.connection.answer(link.stream(1), FIELDS, PREFIX, Buffer.from("hello"), TRAILERS);
    const frames = link.take();
    expect(textOf(frames)).to.deep.equal([
      ...["1 Headers :status 200 content-type application/grpc", "1 Data 10", "1 Headers grpc-status 0."],
    ]);
    expect(bytesOf(frames, 1).toString()).to.equal("12345hello");
    expect([link.connection.streamCount, link.stream(1).isOpen]).to.deep.equal([0, false]);
    expect(link.counters.streamsClosed).to.equal(1);
  });

  it("sends the same frames with one call for each part", () => {
    const link = linkWith([1]);
    const stream = link.stream(1);
    link.connection.respond(stream, FIELDS);
    expect(link.connection.write(stream, PREFIX, Buffer.from("hello"))).to.equal("taken");
    expect(link.connection.write(stream, PREFIX)).to.equal("taken");
    link.connection.end(stream, TRAILERS);
    expect(textOf(link.take()).slice(1)).to.deep.equal(["1 Data 10", "1 Data 5", "1 Headers grpc-status 0."]);
  });

  it("sends only trailers, and ends without trailers", () => {
    const link = linkWith([1, 3]);
    link.connection.end(link.stream(1), [":status", "200", "grpc-status", "5"]);
    link.connection.respond(link.stream(3), [":status", "204"]);
    link.connection.end(link.stream(3), []);
    expect(textOf(link.take())).to.deep.equal([
      ...["1 Headers :status 200 grpc-status 5.", "3 Headers :status 204", "3 Data 0."],
    ]);
  });

  it("lets the client omit the rest of a request whose answer is complete", () => {
    const link = LinkedConnection.established();
    link.request(1, GRPC_REQUEST);
    link.connection.end(link.stream(1), [":status", "200"]);
    link.send(data(1, "late", Flag.EndStream));
    const frames = link.take();
    expect(textOf(frames)).to.deep.equal(["1 Headers :status 200.", "1 RstStream 4"]);
    expect(frames[1]?.payload.readUInt32BE(0)).to.equal(ErrorCode.NoError);
    expect(link.callsOf("reset")).to.deep.equal([]);
  });

  it("does nothing for a stream that has ended", () => {
    const link = linkWith([1, 3]);
    link.connection.end(link.stream(1), [":status", "200"]);
    link.send(rstStream(3, ErrorCode.Cancel));
    link.take();
    for (const id of [1, 3]) {
      const stream = link.stream(id);
      link.connection.respond(stream, FIELDS);
      expect(link.connection.write(stream, PREFIX)).to.equal("closed");
      link.connection.end(stream, TRAILERS);
      link.connection.answer(stream, FIELDS, PREFIX, PREFIX, TRAILERS);
      link.connection.reset(stream, ErrorCode.Cancel);
      link.connection.consume(stream, 1);
    }
    expect(link.take()).to.deep.equal([]);
  });

  it("refuses an invalid answer", () => {
    const link = linkWith([1]);
    const stream = link.stream(1);
    expect(() => link.connection.write(stream, PREFIX)).to.throw("before its first fields");
    expect(() => link.connection.end(stream, [])).to.throw("no fields");
    link.connection.respond(stream, FIELDS);
    expect(() => link.connection.respond(stream, FIELDS)).to.throw("already");
    expect(() => link.connection.answer(stream, FIELDS, PREFIX, PREFIX, TRAILERS)).to.throw("already");
  });

  it("splits bytes into frames of 16 KiB, even if the client allows longer ones", () => {
    const link = linkWith([1], {}, [[Setting.MaxFrameSize, 1_000_000]]);
    const body = Buffer.alloc(40_000, "abc");
    link.connection.answer(link.stream(1), FIELDS, PREFIX, body, TRAILERS);
    const frames = link.take();
    expect(textOf(frames).slice(1)).to.deep.equal([
      ...["1 Data 16384", "1 Data 16384", "1 Data 7237", "1 Headers grpc-status 0."],
    ]);
    expect(bytesOf(frames, 1)).to.deep.equal(Buffer.concat([PREFIX, body]));
  });

  for (const [title, bytesMax, lengths] of [
    ["16 KiB", 16_384, [16_384, 16_384]],
    ["what the client allows", 20_000, [20_000]],
  ] as const) {
    it(`splits fields into frames of ${title}`, () => {
      const link = linkWith([1], {}, [[Setting.MaxFrameSize, bytesMax]]);
      const fields = [
        ":status",
        "200",
        ...Array.from({ length: 30 }, (_, at) => [`x-${at}`, "\0".repeat(1_200)]).flat(),
      ];
      link.connection.respond(link.stream(1), fields);
      link.connection.end(link.stream(1), TRAILERS);
      const frames = link.take();
      expect(frames[0]?.fields).to.deep.equal(fields);
      expect(frames.slice(0, -2).map(({ payload }) => payload.length)).to.deep.equal(lengths);
      expect(frames.map(({ flags }) => flags & Flag.EndHeaders)).to.deep.equal([...lengths.map(() => 0), 4, 4]);
      expect(textOf(frames).at(-1)).to.equal("1 Headers grpc-status 0.");
    });
  }

  it("splits trailers, and ends the stream with the first of their frames", () => {
    const link = linkWith([1]);
    link.connection.end(link.stream(1), [":status", "200", "x", "\0".repeat(20_000)]);
    const frames = link.take();
    expect(frames.map(({ type, flags }) => [type, flags])).to.deep.equal([
      [FrameType.Headers, Flag.EndStream],
      [FrameType.Continuation, Flag.EndHeaders],
    ]);
  });

  it("uses the table size that the client has set", () => {
    const link = linkWith([1, 3], {}, [[Setting.HeaderTableSize, 0]]);
    for (const id of [1, 3]) {
      link.connection.answer(link.stream(id), FIELDS, PREFIX, PREFIX, TRAILERS);
    }
    const blocks = link.take().filter(({ type }) => type === FrameType.Headers);
    expect(blocks.map(({ fields }) => fields)).to.deep.equal([FIELDS, TRAILERS, FIELDS, TRAILERS]);
    expect(blocks[3]?.payload.length).to.be.greaterThan(1);
  });

  describe("waits", () => {
    it("for the window of a stream, and sends other streams", () => {
      const link = linkWith([1, 3], {}, [[Setting.InitialWindowSize, 7]]);
      link.connection.answer(link.stream(1), FIELDS, PREFIX, Buffer.from("hello"), TRAILERS);
      link.connection.answer(link.stream(3), FIELDS, PREFIX, Buffer.from("ab"), TRAILERS);
      expect(textOf(link.take()).filter((text) => !text.includes("content-type"))).to.deep.equal([
        ...["1 Data 7", "3 Data 7", "3 Headers grpc-status 0."],
      ]);
      expect([link.connection.bufferedBytes.queued, link.connection.streamCount]).to.deep.equal([3, 1]);
      link.send(windowUpdate(1, 2));
      expect(textOf(link.take())).to.deep.equal(["1 Data 2"]);
      link.send(windowUpdate(1, 1));
      expect(textOf(link.take())).to.deep.equal(["1 Data 1", "1 Headers grpc-status 0."]);
      expect([link.connection.bufferedBytes.queued, link.connection.streamCount]).to.deep.equal([0, 0]);
    });

    it("if a window is one byte too small, and not if it is large enough", () => {
      for (const [bytes, frames] of [
        [10, ["1 Data 10", "1 Headers grpc-status 0."]],
        [9, ["1 Data 9"]],
      ] as const) {
        const ofStream = linkWith([1], {}, [[Setting.InitialWindowSize, bytes]]);
        ofStream.connection.answer(ofStream.stream(1), FIELDS, PREFIX, PREFIX, TRAILERS);
        expect(textOf(ofStream.take()).slice(1)).to.deep.equal(frames);

        const ofConnection = linkWith([1, 3], {}, [[Setting.InitialWindowSize, 100_000]]);
        ofConnection.connection.respond(ofConnection.stream(3), FIELDS);
        ofConnection.connection.write(ofConnection.stream(3), Buffer.alloc(65_535 - bytes));
        ofConnection.take();
        ofConnection.connection.answer(ofConnection.stream(1), FIELDS, PREFIX, PREFIX, TRAILERS);
        expect(textOf(ofConnection.take()).slice(1)).to.deep.equal(frames);
      }
    });

    it("for the window of the connection, in turns of one frame", () => {
      const link = linkWith([1, 3, 5]);
      link.connection.answer(link.stream(1), FIELDS, PREFIX, Buffer.alloc(60_000), TRAILERS);
      for (const id of [3, 5]) {
        link.connection.answer(link.stream(id), FIELDS, PREFIX, Buffer.alloc(30_000), TRAILERS);
      }
      link.take();
      expect(link.connection.bufferedBytes.queued).to.equal(120_015 - 65_535);
      link.send(windowUpdate(0, 40_000));
      const lengths = textOf(link.take()).filter((text) => text.includes("Data"));
      expect(lengths).to.deep.equal(["3 Data 16384", "5 Data 16384", "3 Data 7232"]);
    });

    it("after the client has lowered its windows below zero", () => {
      const link = linkWith([1], {}, [[Setting.InitialWindowSize, 10]]);
      const { connection } = link;
      const stream = link.stream(1);
      connection.respond(stream, FIELDS);
      connection.write(stream, PREFIX, PREFIX);
      link.send(settings([Setting.InitialWindowSize, 4]));
      connection.write(stream, PREFIX);
      link.take();
      link.send(windowUpdate(1, 6));
      expect(textOf(link.take())).to.deep.equal([]);
      link.send(windowUpdate(1, 1));
      expect(textOf(link.take())).to.deep.equal(["1 Data 1"]);
      link.send(settings([Setting.InitialWindowSize, 100]));
      expect(textOf(link.take())).to.deep.equal(["0 Settings 0", "1 Data 4"]);
    });

    it("for a stream in the queue whose window was lowered", () => {
      const link = linkWith([1], { limits: { unwrittenBytes: 20 } }, [[Setting.InitialWindowSize, 10]]);
      link.connection.answer(link.stream(1), FIELDS, PREFIX, PREFIX, TRAILERS);
      link.send(settings([Setting.InitialWindowSize, 0]));
      expect(textOf(link.take()).filter((text) => text.includes("Data"))).to.deep.equal([]);
      link.send(windowUpdate(1, 10));
      expect(textOf(link.take())).to.deep.equal(["1 Data 10", "1 Headers grpc-status 0."]);
    });

    it("for the socket, above the limit of unwritten bytes", () => {
      const link = linkWith([1], { limits: { unwrittenBytes: 30_000 } });
      link.connection.answer(link.stream(1), FIELDS, PREFIX, Buffer.alloc(60_000), TRAILERS);
      expect(link.connection.bufferedBytes.unwritten).to.be.within(30_000, 50_000);
      expect(link.connection.isReading).to.equal(false);
      const first = link.connection.takeOutput();
      expect(first?.length).to.be.within(30_000, 50_000);
      expect([link.connection.takeOutput(), link.connection.isReading]).to.deep.equal([null, false]);
      link.connection.written();
      expect(link.connection.bufferedBytes.unwritten).to.be.within(20_000, 30_000);
      expect(link.connection.isReading).to.equal(true);
    });

    it("and drops queued bytes when the stream ends", () => {
      const link = linkWith([1, 3], {}, [[Setting.InitialWindowSize, 0]]);
      for (const id of [1, 3]) {
        link.connection.answer(link.stream(id), FIELDS, PREFIX, PREFIX, TRAILERS);
      }
      link.send(rstStream(1, ErrorCode.Cancel));
      link.connection.reset(link.stream(3), ErrorCode.Cancel);
      expect([link.connection.bufferedBytes.queued, link.connection.streamCount]).to.deep.equal([0, 0]);
      link.take();
      link.send(settings([Setting.InitialWindowSize, 100]));
      expect(textOf(link.take())).to.deep.equal(["0 Settings 0"]);
    });
  });

  it("copies the head before the bytes, because its memory may be reused", () => {
    const link = linkWith([1], {}, [[Setting.InitialWindowSize, 0]]);
    const head = Buffer.from("head");
    link.connection.respond(link.stream(1), FIELDS);
    link.connection.write(link.stream(1), head, Buffer.from("body"));
    head.fill("-");
    link.send(windowUpdate(1, 100));
    expect(bytesOf(link.take(), 1).toString()).to.equal("headbody");
  });

  describe("limits the queued bytes", () => {
    const limits = { streamQueuedBytes: 100, queuedBytes: 250 };

    /** Writes 40 bytes at a time until the limit. Returns how often it wrote. */
    const fill = (link: LinkedConnection, id: number): number => {
      for (let count = 0; ; count++) {
        const outcome = link.connection.write(link.stream(id), Buffer.alloc(40));
        if (outcome !== "taken") {
          expect(outcome).to.equal("full");
          return count;
        }
      }
    };

    it("of a stream, and calls its handler when half of them are gone", () => {
      const link = linkWith([1], { limits }, [[Setting.InitialWindowSize, 0]]);
      link.connection.respond(link.stream(1), FIELDS);
      expect(fill(link, 1)).to.equal(3);
      link.send(windowUpdate(1, 69));
      expect(link.callsOf("writable")).to.deep.equal([]);
      link.send(windowUpdate(1, 1));
      expect(link.callsOf("writable")).to.deep.equal([{ call: "writable", id: 1 }]);
      expect(fill(link, 1)).to.equal(2);
    });

    it("of all streams, and calls the handlers as long as they can write", () => {
      const link = linkWith(
        [1, 3, 5, 7],
        { limits, onCall: (call, own) => call.call === "writable" && fill(own, call.id) },
        [[Setting.InitialWindowSize, 0]],
      );
      for (const id of [1, 3, 5, 7]) {
        link.connection.respond(link.stream(id), FIELDS);
      }
      expect([1, 3, 5, 7].map((id) => fill(link, id))).to.deep.equal([3, 3, 1, 0]);
      link.send(windowUpdate(3, 120));
      expect(link.callsOf("writable")).to.deep.equal([]);
      // The first handler that is called writes up to the limit.
      link.send(windowUpdate(1, 120));
      expect(link.callsOf("writable").map(({ id }) => id)).to.deep.equal([1]);
      link.send(windowUpdate(1, 120));
      expect(link.callsOf("writable").map(({ id }) => id)).to.deep.equal([1, 3]);
    });

    it("of all streams, and calls a handler when another stream has freed bytes by its end", () => {
      for (const ends of ["client", "server"]) {
        const link = linkWith([1, 3, 5], { limits }, [[Setting.InitialWindowSize, 0]]);
        for (const id of [1, 3, 5]) {
          link.connection.respond(link.stream(id), FIELDS);
        }
        expect([1, 3, 5].map((id) => fill(link, id))).to.deep.equal([3, 3, 1]);
        for (const id of [1, 3]) {
          if (ends === "client") {
            link.send(rstStream(id, ErrorCode.Cancel));
          } else {
            link.connection.reset(link.stream(id), ErrorCode.Cancel);
          }
        }
        expect(link.callsOf("writable")).to.deep.equal([{ call: "writable", id: 5 }]);
      }
    });

    it("and ends with the connection, if a handler that can write closes it within an answer of another stream", () => {
      const link = linkWith(
        [1, 3, 5],
        {
          limits,
          onCall: ({ call }, own) => {
            if (call === "reset" && own.stream(5).isOpen) {
              own.connection.answer(own.stream(5), FIELDS, PREFIX, PREFIX, TRAILERS);
            } else if (call === "writable") {
              own.connection.close();
            }
          },
        },
        [[Setting.InitialWindowSize, 0]],
      );
      for (const id of [1, 3]) {
        link.connection.respond(link.stream(id), FIELDS);
      }
      link.connection.write(link.stream(3), Buffer.alloc(250));
      expect(link.connection.write(link.stream(1), PREFIX)).to.equal("full");
      link.send(rstStream(3, ErrorCode.Cancel));
      expect(link.callsOf("writable")).to.deep.equal([{ call: "writable", id: 1 }]);
      expect(link.counters.streamsClosed).to.equal(3);
      expect(link.take().at(-1)?.type).to.equal(FrameType.GoAway);
    });

    it("and calls no handler whose stream has ended", () => {
      const link = linkWith([1], { limits }, [[Setting.InitialWindowSize, 0]]);
      link.connection.respond(link.stream(1), FIELDS);
      fill(link, 1);
      link.connection.end(link.stream(1), TRAILERS);
      link.send(windowUpdate(1, 1_000));
      expect(link.callsOf("writable")).to.deep.equal([]);
      expect(link.connection.streamCount).to.equal(0);
    });

    it("except for whole answers; further ones wait until half of the bytes are sent, and then begin in order", () => {
      const link = linkWith([1, 3, 5, 7], { limits }, [[Setting.InitialWindowSize, 0]]);
      const mayAnswer = (id: number) => link.connection.mayAnswer(link.stream(id));
      expect([mayAnswer(1), mayAnswer(3)]).to.deep.equal([true, true]);
      for (const id of [1, 3]) {
        link.connection.answer(link.stream(id), FIELDS, PREFIX, Buffer.alloc(200), TRAILERS);
      }
      expect(link.connection.bufferedBytes.queued).to.equal(410);
      expect([mayAnswer(5), mayAnswer(7)]).to.deep.equal([false, false]);
      link.take();
      link.send(windowUpdate(1, 1_000));
      expect(link.connection.bufferedBytes.queued).to.equal(205);
      expect(link.callsOf("writable")).to.deep.equal([]);
      link.request(9, GRPC_REQUEST, Flag.EndStream);
      // There are fewer bytes than the limit, but others were first.
      expect(mayAnswer(9)).to.equal(false);
      link.send(windowUpdate(3, 100));
      expect(link.callsOf("writable").map(({ id }) => id)).to.deep.equal([5, 7, 9]);
      expect(link.counters.resetsSent).to.equal(0);
    });

    it("and lets eight answers be made at a time after they waited, also if some end without an answer", () => {
      const held = Array.from({ length: 20 }, (_, at) => 2 * at + 3);
      const link = linkWith([1, ...held], { limits }, [[Setting.InitialWindowSize, 0]]);
      link.connection.answer(link.stream(1), FIELDS, PREFIX, Buffer.alloc(300), TRAILERS);
      expect(held.map((id) => link.connection.mayAnswer(link.stream(id)))).to.not.include(true);
      link.send(rstStream(5, ErrorCode.Cancel));
      const begun = () => link.callsOf("writable").map(({ id }) => id);
      const expected = held.filter((id) => id !== 5);
      link.send(windowUpdate(1, 1_000));
      expect(begun()).to.deep.equal(expected.slice(0, 8));
      link.send(rstStream(3, ErrorCode.Cancel));
      expect(begun()).to.deep.equal(expected.slice(0, 9));
      link.connection.end(link.stream(7), [":status", "200", "grpc-status", "4"]);
      link.connection.answer(link.stream(9), FIELDS, PREFIX, Buffer.alloc(10), TRAILERS);
      link.take();
      expect(begun()).to.deep.equal(expected.slice(0, 11));
    });
  });

  it("sends every answer completely and within its windows, for any windows and any growth", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("answer" as const), bytes: fc.oneof(fc.nat(300), fc.nat(50_000)) }),
      fc.record({ kind: fc.constant("widen" as const), stream: fc.nat(8), bytes: fc.integer({ min: 1, max: 40_000 }) }),
      fc.record({ kind: fc.constant("settings" as const), bytes: fc.nat(70_000) }),
      fc.record({ kind: fc.constant("reset" as const), stream: fc.nat(8) }),
      fc.record({ kind: fc.constant("take" as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 60_000 }), (steps, unwrittenBytes) => {
        const link = LinkedConnection.established({ limits: { unwrittenBytes } });
        const bodies = new Map<number, Buffer>();
        let nextId = 1;
        let initialWindow = 65_535;
        let connectionWindow = 65_535;
        const windows = new Map<number, number>();
        const reset = new Set<number>();
        const check = (): void => {
          for (const { type, streamId, payload } of link.take()) {
            if (type === FrameType.Data && payload.length > 0) {
              connectionWindow -= payload.length;
              windows.set(streamId, (windows.get(streamId) as number) - payload.length);
              expect(connectionWindow).to.be.at.least(0);
              expect(windows.get(streamId)).to.be.at.least(0);
            }
          }
        };
        for (const each of steps) {
          if (each.kind === "answer") {
            const id = nextId;
            nextId += 2;
            windows.set(id, initialWindow);
            link.request(id, GRPC_REQUEST, Flag.EndStream);
            const body = Buffer.alloc(each.bytes, `${id},`);
            bodies.set(id, body);
            link.connection.answer(link.stream(id), FIELDS, PREFIX, body, TRAILERS);
          } else if (each.kind === "widen" && 2 * each.stream + 1 < nextId) {
            const id = 2 * each.stream + 1;
            windows.set(id, (windows.get(id) as number) + each.bytes);
            link.send(windowUpdate(id, each.bytes));
          } else if (each.kind === "widen") {
            connectionWindow += each.bytes;
            link.send(windowUpdate(0, each.bytes));
          } else if (each.kind === "settings") {
            // Bytes that were sent in larger windows count against the present ones.
            check();
            for (const [id, bytes] of windows) {
              windows.set(id, bytes + each.bytes - initialWindow);
            }
            initialWindow = each.bytes;
            link.send(settings([Setting.InitialWindowSize, each.bytes]));
          } else if (each.kind === "reset" && 2 * each.stream + 1 < nextId) {
            link.send(rstStream(2 * each.stream + 1, ErrorCode.Cancel));
            reset.add(2 * each.stream + 1);
          } else if (each.kind === "take") {
            check();
          }
        }
        for (const id of windows.keys()) {
          windows.set(id, (windows.get(id) as number) + 1_000_000);
          link.send(windowUpdate(id, 1_000_000));
        }
        connectionWindow += 100_000_000;
        link.send(windowUpdate(0, 100_000_000));
        check();
        const frames = link.received.frames;
        for (const [id, body] of bodies) {
          if (!reset.has(id)) {
            expect(bytesOf(frames, id)).to.deep.equal(Buffer.concat([PREFIX, body]));
            expect(textOf(frames.filter(({ streamId }) => streamId === id)).at(-1)).to.equal(
              `${id} Headers grpc-status 0.`,
            );
          }
        }
        expect(link.connection.bufferedBytes.queued).to.equal(0);
        expect(link.connection.streamCount).to.equal(0);
      }),
      { numRuns: 200 },
    );
  });
});
