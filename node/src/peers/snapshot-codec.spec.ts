import { expect } from "chai";
import { FrameError } from "./frame.ts";
import {
  decodeChunk,
  decodeManifest,
  decodeTrailer,
  encodeChunk,
  encodeManifest,
  encodeTrailer,
} from "./snapshot-codec.ts";

const MANIFEST = { format: 1, clusterId: "c", term: 5, index: 90, entryTerm: 4, clusterVersion: 1 };
const ROWS = [
  { key: Buffer.from("a"), value: Buffer.alloc(0) },
  { key: Buffer.from([0, 255]), value: Buffer.from("value") },
];

describe("snapshot codec", () => {
  it("returns manifests, chunks and trailers as they were", () => {
    expect(decodeManifest(encodeManifest(MANIFEST))).to.deep.equal(MANIFEST);
    const { number, rows } = decodeChunk(encodeChunk(7, ROWS));
    expect(number).to.equal(7);
    expect(rows.map(({ key, value }) => [...key, ...value])).to.deep.equal(
      ROWS.map(({ key, value }) => [...key, ...value]),
    );
    const trailer = { chunks: 1, rows: 2, sha256: "ab" };
    expect(decodeTrailer(encodeTrailer(trailer))).to.deep.equal(trailer);
  });

  it("refuses each truncation of a chunk, and a manifest of no entry", () => {
    const body = encodeChunk(7, ROWS);
    for (let length = 0; length < body.length; length++) {
      expect(() => decodeChunk(body.subarray(0, length)), `${length} bytes`).to.throw(FrameError);
    }
    expect(() => decodeChunk(Buffer.concat([body, Buffer.from([0])]))).to.throw(FrameError);
    expect(() => decodeManifest(encodeManifest({ ...MANIFEST, index: 0 }))).to.throw(FrameError);
    expect(() => decodeTrailer(Buffer.from("{}"))).to.throw(FrameError);
  });
});
