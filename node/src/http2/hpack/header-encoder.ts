/**
 * Encodes the header blocks of one direction of a connection (RFC 7541 §3).
 *
 * A field in the peer's tables costs one or two bytes. Other fields are sent as literals, and become entries of the
 * dynamic table if they will probably be sent again. Secret values are never indexed, and peers must not index them
 * either (§7.1.3).
 */
import { copyOf } from "../../bytes/index.ts";
import { DynamicTable, ENTRY_OVERHEAD_BYTES } from "./dynamic-table.ts";
import { encodeHuffman, huffmanBytesOf } from "./huffman.ts";
import { INTEGER_BYTES_MAX, writeInteger } from "./integers.ts";
import {
  HUFFMAN,
  INCREMENTAL_INDEXING,
  INCREMENTAL_INDEXING_PREFIX,
  INDEXED,
  INDEXED_PREFIX,
  LITERAL_PREFIX,
  NEVER_INDEXED,
  SIZE_UPDATE,
  SIZE_UPDATE_PREFIX,
  TABLE_BYTES_INITIAL,
  TEXT_LENGTH_PREFIX,
  WITHOUT_INDEXING,
} from "./representations.ts";
import { STATIC_INDEX_MAX, STATIC_NAMES, STATIC_VALUES, staticIndexOf } from "./static-table.ts";

/** Fields with these names are never indexed. */
const SECRET_NAMES: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);
const NO_NAMES: ReadonlySet<string> = new Set();

/** Maximum bytes of a field in addition to its texts: its first octet, and two lengths. */
const FIELD_OVERHEAD_BYTES_MAX = 1 + 2 * INTEGER_BYTES_MAX;
/** A block begins with at most two size updates (§4.2). */
const SIZE_UPDATES_BYTES_MAX = 2 * INTEGER_BYTES_MAX;
/** Number of lists whose blocks an encoder caches; more than a server repeats. */
const REPEATED_MAX = 8;

/** V8 need not check the characters of a text that it stores as latin-1. */
const ABOVE_LATIN1 = /[\u0100-\uffff]/;

/** The block of a repeated list. It is valid as long as the dynamic table does not change. */
interface RepeatedBlock {
  readonly fields: readonly string[];
  readonly block: Uint8Array;
  readonly tableVersion: number;
}

export interface HeaderEncoderOptions {
  /** Maximum bytes of our dynamic table, even if the peer allows more; below 2^28. */
  readonly tableBytesMax: number;
  /** Names of fields that are never indexed, besides authorization, proxy-authorization and cookie. */
  readonly neverIndexed?: ReadonlySet<string>;
  /** Names of fields whose values differ in most blocks; as entries they would only evict others. */
  readonly withoutIndexing?: ReadonlySet<string>;
  /** Whether to use Huffman code for texts unless it is longer; true by default. */
  readonly usesHuffman?: boolean;
}

export class HeaderEncoder {
  readonly #table: DynamicTable;
  readonly #ownTableBytesMax: number;
  readonly #neverIndexed: ReadonlySet<string>;
  readonly #withoutIndexing: ReadonlySet<string>;
  readonly #usesHuffman: boolean;
  /** The table size that the peer knows, and the lowest size since the last block. */
  #knownBytesMax = TABLE_BYTES_INITIAL;
  #lowestBytesMax: number;
  /** Counts the changes of the table. */
  #tableVersion = 0;
  readonly #repeated: RepeatedBlock[] = [];
  #nextRepeated = 0;

  constructor({
    tableBytesMax,
    neverIndexed = NO_NAMES,
    withoutIndexing = NO_NAMES,
    usesHuffman = true,
  }: HeaderEncoderOptions) {
    this.#ownTableBytesMax = tableBytesMax;
    this.#neverIndexed = neverIndexed;
    this.#withoutIndexing = withoutIndexing;
    this.#usesHuffman = usesHuffman;
    this.#lowestBytesMax = Math.min(tableBytesMax, TABLE_BYTES_INITIAL);
    this.#table = new DynamicTable(this.#lowestBytesMax);
  }

  /** The present size of the dynamic table, by the rules of §4.1. */
  get tableBytes(): number {
    return this.#table.bytes;
  }

  /**
   * Sets the peer's SETTINGS_HEADER_TABLE_SIZE. Call it before the SETTINGS are acknowledged. The next block announces
   * the new size of the table.
   */
  setPeerTableBytesMax(bytes: number): void {
    const bytesMax = Math.min(bytes, this.#ownTableBytesMax);
    this.#lowestBytesMax = Math.min(this.#lowestBytesMax, bytesMax);
    this.#table.resize(bytesMax);
    this.#tableVersion++;
  }

  /** Returns the maximum bytes of a block of these fields. */
  boundOf(fields: readonly string[]): number {
    let bytes = SIZE_UPDATES_BYTES_MAX + (fields.length / 2) * FIELD_OVERHEAD_BYTES_MAX;
    for (const text of fields) {
      bytes += text.length;
    }
    return bytes;
  }

  /**
   * Writes the block of the fields (name, value, name, value, …) to `bytes` from `at`. Returns where it ends. Throws
   * RangeError if fewer than `boundOf(fields)` bytes are left, or if a literal text has a character above U+00FF; then
   * nothing has changed.
   */
  encode(fields: readonly string[], bytes: Uint8Array, at: number): number {
    if (bytes.length - at < this.boundOf(fields)) {
      throw new RangeError("The buffer is too small for the header block");
    }
    let end = this.#writeSizeUpdates(bytes, at);
    let isChecked = false;
    for (let place = 0; place < fields.length; place += 2) {
      const name = fields[place] as string;
      const value = fields[place + 1] as string;
      const index = this.#indexOf(name, value);
      if (index !== 0) {
        end = writeInteger(index, INDEXED_PREFIX, INDEXED, bytes, end);
        continue;
      }
      if (!isChecked) {
        // Checked before the first literal of the block, because a literal may change the table.
        checkLatin1(fields, place);
        isChecked = true;
      }
      end = this.#writeLiteral(name, value, bytes, end);
    }
    this.#knownBytesMax = this.#table.bytesMax;
    this.#lowestBytesMax = this.#table.bytesMax;
    return end;
  }

  /**
   * Like `encode`, for a list that is sent many times as the same frozen array. Its block is cached, and copied as long
   * as the dynamic table does not change. Throws TypeError if the array is not frozen.
   */
  encodeRepeated(fields: readonly string[], bytes: Uint8Array, at: number): number {
    for (const { fields: known, block, tableVersion } of this.#repeated) {
      if (known === fields && tableVersion === this.#tableVersion && block.length <= bytes.length - at) {
        // A block has few bytes: copying them one by one is cheaper than a call of native code.
        for (let place = 0; place < block.length; place++) {
          bytes[at + place] = block[place] as number;
        }
        return at + block.length;
      }
    }
    if (!Object.isFrozen(fields)) {
      throw new TypeError("A repeated list must be frozen");
    }
    const tableVersion = this.#tableVersion;
    const isSizeKnown = this.#isSizeKnown();
    const end = this.encode(fields, bytes, at);
    if (isSizeKnown && tableVersion === this.#tableVersion) {
      this.#remember({ fields, block: copyOf(bytes, at, end), tableVersion });
    }
    return end;
  }

  /** Caches the block. It replaces an earlier block of the same list, or else the oldest block. */
  #remember(repeated: RepeatedBlock): void {
    const place = this.#repeated.findIndex(({ fields }) => fields === repeated.fields);
    if (place >= 0) {
      this.#repeated[place] = repeated;
    } else {
      this.#repeated[this.#nextRepeated] = repeated;
      this.#nextRepeated = (this.#nextRepeated + 1) % REPEATED_MAX;
    }
  }

  /** Whether the peer knows the size of the table. */
  #isSizeKnown(): boolean {
    return this.#lowestBytesMax === this.#knownBytesMax && this.#table.bytesMax === this.#knownBytesMax;
  }

  /** Announces the lowest size since the last block, if the table was made smaller, and the present size (§4.2). */
  #writeSizeUpdates(bytes: Uint8Array, at: number): number {
    if (this.#isSizeKnown()) {
      return at;
    }
    let end = at;
    const { bytesMax } = this.#table;
    if (this.#lowestBytesMax < Math.min(this.#knownBytesMax, bytesMax)) {
      end = writeInteger(this.#lowestBytesMax, SIZE_UPDATE_PREFIX, SIZE_UPDATE, bytes, end);
    }
    return writeInteger(bytesMax, SIZE_UPDATE_PREFIX, SIZE_UPDATE, bytes, end);
  }

  /** Returns the index of an entry with this name and value; 0 if no table has one. */
  #indexOf(name: string, value: string): number {
    const staticIndex = staticIndexOf(name);
    if (staticIndex !== 0) {
      // Entries with the same name follow each other.
      for (let index = staticIndex; index <= STATIC_INDEX_MAX && STATIC_NAMES[index] === name; index++) {
        if (STATIC_VALUES[index] === value) {
          return index;
        }
      }
    }
    const dynamicIndex = this.#table.indexOf(name, value);
    return dynamicIndex === 0 ? 0 : STATIC_INDEX_MAX + dynamicIndex;
  }

  /** Returns the index of an entry with this name and any value; 0 if no table has one. */
  #indexOfName(name: string): number {
    const staticIndex = staticIndexOf(name);
    if (staticIndex !== 0) {
      return staticIndex;
    }
    const dynamicIndex = this.#table.indexOfName(name);
    return dynamicIndex === 0 ? 0 : STATIC_INDEX_MAX + dynamicIndex;
  }

  #writeLiteral(name: string, value: string, bytes: Uint8Array, at: number): number {
    const index = this.#indexOfName(name);
    let end: number;
    if (SECRET_NAMES.has(name) || this.#neverIndexed.has(name)) {
      end = writeInteger(index, LITERAL_PREFIX, NEVER_INDEXED, bytes, at);
    } else if (this.#withoutIndexing.has(name) || !this.#fitsTable(name, value)) {
      end = writeInteger(index, LITERAL_PREFIX, WITHOUT_INDEXING, bytes, at);
    } else {
      end = writeInteger(index, INCREMENTAL_INDEXING_PREFIX, INCREMENTAL_INDEXING, bytes, at);
      this.#table.add(name, value);
      this.#tableVersion++;
    }
    if (index === 0) {
      end = this.#writeText(name, bytes, end);
    }
    return this.#writeText(value, bytes, end);
  }

  /** Whether to index the field: one that takes more than half of the table would evict too many others. */
  #fitsTable(name: string, value: string): boolean {
    return name.length + value.length + ENTRY_OVERHEAD_BYTES <= this.#table.bytesMax / 2;
  }

  /** Writes a text in the form of §5.2. */
  #writeText(text: string, bytes: Uint8Array, at: number): number {
    if (this.#usesHuffman) {
      const length = huffmanBytesOf(text);
      if (length <= text.length) {
        return encodeHuffman(text, bytes, writeInteger(length, TEXT_LENGTH_PREFIX, HUFFMAN, bytes, at));
      }
    }
    let end = writeInteger(text.length, TEXT_LENGTH_PREFIX, 0, bytes, at);
    for (let place = 0; place < text.length; place++) {
      bytes[end++] = text.charCodeAt(place);
    }
    return end;
  }
}

function checkLatin1(fields: readonly string[], from: number): void {
  for (let place = from; place < fields.length; place++) {
    if (ABOVE_LATIN1.test(fields[place] as string)) {
      throw new RangeError("A header field has a character that is not latin-1");
    }
  }
}
