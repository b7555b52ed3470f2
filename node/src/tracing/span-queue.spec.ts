import { expect } from "chai";
import { type Span, spanOf } from "./span.ts";
import { SpanQueue } from "./span-queue.ts";

type Done = (error: Error | null) => void;

const PARENT = { traceId: "a".repeat(32), parentId: "", hasRemoteParent: false, state: "" };
const spans = (count: number): Span[] =>
  Array.from({ length: count }, (_, at) => spanOf(PARENT, { name: `span ${at}`, fromMs: at, toMs: at }));

describe("span queue", () => {
  let batches: { readonly size: number; readonly done: Done }[];
  let lines: string[];
  let nowMs: number;
  let shutdowns: number;
  let queue: SpanQueue;

  beforeEach(() => {
    batches = [];
    lines = [];
    nowMs = 0;
    shutdowns = 0;
    queue = new SpanQueue({
      exporter: {
        export: (batch, done) => void batches.push({ size: batch.length, done }),
        shutdown: async () => void shutdowns++,
      },
      log: { warn: (fields, message) => void lines.push(`${message} ${JSON.stringify(fields)}`) },
      monotonicMs: () => nowMs,
    });
  });

  it("exports one batch at a time, and counts what became of it", () => {
    queue.flush();
    expect(batches).to.deep.equal([]);
    queue.add(spans(1_000));
    queue.flush();
    queue.flush();
    expect([batches.map(({ size }) => size), queue.size]).to.deep.equal([[512], 488]);
    batches[0]?.done(null);
    nowMs = 1_000;
    queue.flush();
    batches[1]?.done(new Error("no route"));
    expect([queue.exported, queue.failed, queue.dropped, queue.size]).to.deep.equal([512, 488, 0, 0]);
  });

  it("exports a full batch at once, and another one a second after the last", () => {
    const sizesAfter = (atMs: number, count: number) => {
      nowMs = atMs;
      queue.add(spans(count));
      queue.flush();
      batches.at(-1)?.done(null);
      return batches.splice(0).map(({ size }) => size);
    };
    expect(sizesAfter(0, 5)).to.deep.equal([5]);
    expect(sizesAfter(100, 300)).to.deep.equal([]);
    expect(sizesAfter(200, 300)).to.deep.equal([512]);
    expect(sizesAfter(1_199, 0)).to.deep.equal([]);
    expect(sizesAfter(1_200, 0)).to.deep.equal([88]);
    expect(sizesAfter(2_200, 0)).to.deep.equal([]);
    expect(sizesAfter(2_201, 1)).to.deep.equal([1]);
  });

  it("drops what does not fit while the exporter does not answer", () => {
    queue.add(spans(20));
    queue.flush();
    expect(queue.hasSpace).to.equal(true);
    queue.add(spans(10_000));
    expect([queue.size, queue.dropped, queue.hasSpace]).to.deep.equal([8_192, 10_000 - 8_192, false]);
    queue.flush();
    expect(batches).to.have.length(1);
  });

  it("logs failures at most once a minute", () => {
    for (const atMs of [0, 59_999, 60_000]) {
      nowMs = atMs;
      queue.add(spans(512));
      queue.flush();
      batches.at(-1)?.done(new Error("no route"));
    }
    expect(batches).to.have.length(3);
    expect(lines).to.have.length(2);
    expect(lines[0]).to.include("spans cannot be exported");
  });

  it("exports everything at its end, and closes the exporter", async () => {
    queue.add(spans(1_000));
    const stopped = queue.stop(60_000);
    batches[0]?.done(null);
    await new Promise(setImmediate);
    batches[1]?.done(null);
    await stopped;
    expect([queue.exported, queue.size, shutdowns]).to.deep.equal([1_000, 0, 1]);
  });

  it("exports at its end also what waits behind the batch in flight", async () => {
    queue.add(spans(600));
    queue.flush();
    const stopped = queue.stop(60_000);
    await new Promise(setImmediate);
    expect([batches.length, shutdowns]).to.deep.equal([1, 0]);
    batches[0]?.done(null);
    await new Promise(setImmediate);
    batches[1]?.done(null);
    await stopped;
    expect([queue.exported, queue.size, shutdowns]).to.deep.equal([600, 0, 1]);
  });

  it("ends although the exporter never answers", async () => {
    queue.add(spans(1));
    await queue.stop(1);
    expect(queue.exported).to.equal(0);
  });
});
