import { crc32 } from "node:zlib";
import { expect } from "chai";
import { EntryType, entryPayload, entryType, isIntactEntry } from "../../src/raft/index.ts";
import {
  decodeCommand,
  decodeMembershipEntry,
  encodeCommand,
  encodeMembershipEntry,
  type StateReader,
} from "../../src/state/index.ts";
import { dumpOf } from "../index.ts";
import { outcomeText } from "./golden-log.ts";
import type { GoldenEntry } from "./log-file.ts";
import { broken } from "./promises.ts";
import { recordedReads } from "./recorded-reads.ts";
import { runScript } from "./script.ts";
import { replay } from "./state-at.ts";
import { goldenVersions, newestGolden } from "./versions.ts";

function nameOf({ index, bytes }: GoldenEntry): string {
  const [type] = Object.entries(EntryType).find(([, number]) => number === entryType(bytes)) ?? ["unknown"];
  const kind = type === "Command" ? ` ${decodeCommand(entryPayload(bytes)).operation.kind}` : "";
  return `entry ${index} (${type}${kind})`;
}

/** The payload, decoded and encoded again; the bytes themselves where it has no such form. */
function encodedAgain(bytes: Uint8Array): Uint8Array {
  const payload = entryPayload(bytes);
  switch (entryType(bytes)) {
    case EntryType.Command:
      return encodeCommand(decodeCommand(payload));
    case EntryType.AddSlot:
    case EntryType.Reconfigure:
      return encodeMembershipEntry(decodeMembershipEntry(payload));
    default:
      return payload;
  }
}

for (const { version, entries, successions, expected } of goldenVersions()) {
  describe(`golden log of ${version}`, () => {
    const rows = entries.map(({ bytes }) => bytes);

    it("has entries that are whole and of a known format", () => {
      for (const entry of entries) {
        expect(isIntactEntry(entry.bytes, crc32), broken(version, `The bytes of entry ${entry.index}`)).to.equal(true);
      }
    });

    it("makes the same state and the same answers, entry by entry", () => {
      let at = 0;
      replay(rows, undefined, ({ progress: { digest, revision } }, outcome) => {
        const entry = entries[at++] as GoldenEntry;
        const { outcome: answer, revision: revisionThen, digest: digestThen } = entry;
        expect(
          { answer: outcomeText(outcome), revision, digest },
          broken(version, `Answer, revision or digest behind ${nameOf(entry)}`),
        ).to.deep.equal({ answer, revision: revisionThen, digest: digestThen });
      });
      expect(at).to.equal(entries.length);
    });

    it("is taken over by new clusters with the same state", () => {
      const { store } = replay(rows);
      for (const entry of successions) {
        const { digest, revision } = replay([entry.bytes], store).machine.progress;
        const then = { digest: entry.digest, revision: entry.revision };
        expect({ digest, revision }, broken(version, `The state behind ${nameOf(entry)}`)).to.deep.equal(then);
      }
      const promise = broken(version, "What is read after successions");
      expect(recordedReads(store), promise).to.deep.equal(expected.afterSuccessions);
    });

    it("makes the same rows in one batch as in a batch for each entry", () => {
      expect(dumpOf(replay(rows).store)).to.deep.equal(dumpOf(replay(rows, undefined, () => undefined).store));
    });

    it("makes a state from which the same can be read, at the mark and at the end", () => {
      const reads = (state: StateReader) => recordedReads(state);
      const atMark = reads(replay(rows.slice(0, expected.mark)).store);
      expect(atMark, broken(version, "What is read at the mark")).to.deep.equal(expected.atMark);
      expect(reads(replay(rows).store), broken(version, "What is read at the end")).to.deep.equal(expected.atEnd);
    });
  });
}

describe("golden log of the newest version", () => {
  const { version, ...golden } = newestGolden();
  const entries = [...golden.entries, ...golden.successions];
  const hint = (entry: GoldenEntry) =>
    `The encoder of today writes ${nameOf(entry)} with other bytes. Members of version ${version} could not read them, or a ` +
    "retry would not be recognised. Give the new form a new format or cluster version, and make new golden files: " +
    "docs/compatibility.md";

  it("is written by the encoders of today with the same bytes", () => {
    for (const entry of entries) {
      const [again, then] = [encodedAgain(entry.bytes), entryPayload(entry.bytes)].map((one) => Buffer.from(one));
      expect(again?.toString("hex"), hint(entry)).to.equal(then?.toString("hex"));
    }
  });

  it("is what the script of today makes, byte by byte", async () => {
    const { log } = await runScript();
    for (const entry of entries) {
      const made = log.entries[entry.index - 1];
      expect(Buffer.from(made?.bytes ?? []).toString("hex"), hint(entry)).to.equal(
        Buffer.from(entry.bytes).toString("hex"),
      );
    }
    const more = `The script has steps that golden files of ${version} lack: make those of the next version`;
    expect(log.entries.length, more).to.equal(entries.length);
  });
});
