/**
 * The content of a Raft log on a disk, in memory, for specs of the consensus core: dense from entry 1, never shortened.
 */

import { crc32 } from "node:zlib";
import { type EntryType, encodeEntry, entryTerm, type LogReader, NO_ENVELOPE, sealEntry } from "../src/raft/index.ts";

export class StoredLog implements LogReader {
  /** The rows: entry 1 is the first. */
  readonly rows: Uint8Array[] = [];

  /** Adds an entry without payload. */
  add(type: EntryType, term: number): this {
    const row = encodeEntry(type, NO_ENVELOPE, new Uint8Array(0));
    sealEntry(row, term, this.rows.length + 1, crc32);
    this.rows.push(row);
    return this;
  }

  term(index: number): number {
    return entryTerm(this.rows[index - 1] as Uint8Array);
  }

  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    const rows: Uint8Array[] = [];
    let bytes = 0;
    for (const row of this.rows.slice(from - 1, to)) {
      bytes += row.length;
      if (rows.length > 0 && bytes > maxBytes) {
        break;
      }
      rows.push(row);
    }
    return rows;
  }
}
