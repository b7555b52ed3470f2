import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect } from "chai";
import { decodeChunk, decodeManifest, decodeTrailer, FrameType } from "../../src/peers/index.ts";
import { SNAPSHOT_FORMAT } from "../../src/replica/index.ts";
import { MemoryStateStore } from "../index.ts";
import { broken } from "./promises.ts";
import { recordedReads } from "./recorded-reads.ts";
import { makeFrames, readFrames } from "./snapshot-frames.ts";
import { replay } from "./state-at.ts";
import { FRAMES_FILE, goldenVersions, newestGolden } from "./versions.ts";

for (const { version, directory, entries, expected } of goldenVersions()) {
  describe(`golden snapshot between members of ${version}`, () => {
    const frames = readFrames(join(directory, FRAMES_FILE));
    const rows = entries.map(({ bytes }) => bytes);
    const promise = (what: string) => broken(version, what);

    it("is read, frame by frame, into the state that it was made of", () => {
      const [manifest, ...rest] = frames;
      expect(manifest?.type, promise("Types of frames")).to.equal(FrameType.SnapshotManifest);
      const { format, index } = decodeManifest(manifest?.body ?? new Uint8Array(0));
      // Members of this version must take in what members of that version send.
      expect({ format, index }, promise("Manifests")).to.deep.equal({ format: SNAPSHOT_FORMAT, index: expected.mark });
      const state = new MemoryStateStore();
      const digest = createHash("sha256");
      let count = 0;
      const chunks = rest.slice(0, -1);
      for (const [at, { type, body }] of chunks.entries()) {
        expect(type, promise("Types of frames")).to.equal(FrameType.SnapshotChunk);
        const chunk = decodeChunk(body);
        expect(chunk.number, promise("Chunks")).to.equal(at);
        digest.update(body);
        count += chunk.rows.length;
        state.write(chunk.rows);
      }
      const trailer = decodeTrailer(rest.at(-1)?.body ?? new Uint8Array(0));
      const arrived = { chunks: chunks.length, rows: count, sha256: digest.digest("hex") };
      expect(trailer, promise("Trailers")).to.deep.equal(arrived);
      expect(recordedReads(state), promise("Rows of the snapshot")).to.deep.equal(expected.atMark);
      replay(rows.slice(expected.mark), state);
      expect(recordedReads(state), promise("Contents of the state")).to.deep.equal(expected.atEnd);
    });
  });
}

describe("golden snapshot between members of the newest version", () => {
  it("is written with the same bytes today, for members of that version to read", () => {
    const { version, directory, entries, expected } = newestGolden();
    const shown = (made: ReturnType<typeof makeFrames>) =>
      made.map(({ type, body }) => `${type} ${Buffer.from(body).toString("hex")}`);
    expect(shown(makeFrames(entries, expected.mark)), broken(version, "Frames of a snapshot")).to.deep.equal(
      shown(readFrames(join(directory, FRAMES_FILE))),
    );
  });
});
