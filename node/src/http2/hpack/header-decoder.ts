/**
 * Decodes the header blocks of one direction of a connection (RFC 7541 §3).
 *
 * A field that is an entry of a table needs no new text: all blocks share the texts of the tables. The decoder does not
 * check names and values: the caller must check what HTTP allows in them.
 */
import { latin1Of } from "../../bytes/index.ts";
import { DynamicTable, ENTRY_OVERHEAD_BYTES } from "./dynamic-table.ts";
import { HeaderCompressionError } from "./header-compression-error.ts";
import { decodedBytesMax, decodeHuffman } from "./huffman.ts";
import { type Cursor, readInteger } from "./integers.ts";
import { KnownPaths } from "./known-paths.ts";
import {
  HUFFMAN,
  INCREMENTAL_INDEXING,
  INCREMENTAL_INDEXING_PREFIX,
  INDEXED,
  INDEXED_PREFIX,
  LITERAL_PREFIX,
  SIZE_UPDATE,
  SIZE_UPDATE_PREFIX,
  TABLE_BYTES_INITIAL,
  TEXT_LENGTH_PREFIX,
} from "./representations.ts";
import { STATIC_INDEX_MAX, STATIC_NAMES, STATIC_VALUES } from "./static-table.ts";

const PATH = ":path";
/** All decoders decode texts in this buffer, one after the other. A text that may be longer gets its own memory. */
const TEXT_BYTES = 4_096;
const textBytes = Buffer.allocUnsafeSlow(TEXT_BYTES);

export interface DecodedFields {
  /** Name, value, name, value, …: latin-1 texts, in the order of the block. */
  readonly fields: readonly string[];
  /** Whether the list exceeds its limit; `fields` then has only the fields before the one that exceeds it. */
  readonly isTooLarge: boolean;
}

export class HeaderDecoder {
  readonly #table = new DynamicTable(TABLE_BYTES_INITIAL);
  readonly #listBytesMax: number;
  readonly #cursor: Cursor = { at: 0 };
  readonly #paths = new KnownPaths();
  readonly #announcedBytesMax: number;
  /** Maximum value of a size update. */
  #tableBytesMax: number;
  #isSizeUpdateRequired = false;

  /**
   * @param options.tableBytesMax the SETTINGS_HEADER_TABLE_SIZE that we announced
   * @param options.listBytesMax maximum bytes of one list: of all names and values, and 32 for each field
   */
  constructor({ tableBytesMax, listBytesMax }: { readonly tableBytesMax: number; readonly listBytesMax: number }) {
    this.#announcedBytesMax = tableBytesMax;
    this.#listBytesMax = listBytesMax;
    this.#tableBytesMax = Math.max(tableBytesMax, TABLE_BYTES_INITIAL);
  }

  /** The present size of the dynamic table, by the rules of §4.1. */
  get tableBytes(): number {
    return this.#table.bytes;
  }

  /**
   * Call it when the peer has acknowledged the SETTINGS with the table size. Until then the peer may use 4,096 bytes,
   * afterwards only the announced size. If that is less, its next block must begin with a size update (§4.2).
   */
  acknowledgeSettings(): void {
    this.#tableBytesMax = this.#announcedBytesMax;
    this.#isSizeUpdateRequired = this.#table.bytesMax > this.#announcedBytesMax;
  }

  /**
   * Decodes one complete block, the bytes from `start` to `end`. Throws HeaderCompressionError for a decoding error of
   * RFC 7541; the decoder is unusable after that. A list above its limit is not an error, and the dynamic table stays
   * the same as the peer's.
   */
  decode(block: Uint8Array, start: number, end: number): DecodedFields {
    const cursor = this.#cursor;
    cursor.at = start;
    this.#readSizeUpdates(block, end);
    const fields: string[] = [];
    let listBytes = 0;
    while (cursor.at < end) {
      const first = block[cursor.at] as number;
      let name: string;
      let value: string;
      if (first >= INDEXED) {
        const index = readInteger(block, cursor, end, INDEXED_PREFIX);
        name = this.#nameAt(index);
        value = this.#valueAt(index);
      } else if (first >= INCREMENTAL_INDEXING) {
        name = this.#readName(block, end, INCREMENTAL_INDEXING_PREFIX);
        value = this.#readText(block, end);
        this.#table.add(name, value);
      } else if (first >= SIZE_UPDATE) {
        throw new HeaderCompressionError("A size update of the dynamic table follows a field");
      } else {
        name = this.#readName(block, end, LITERAL_PREFIX);
        value = name === PATH ? this.#readPath(block, end) : this.#readText(block, end);
      }
      listBytes += name.length + value.length + ENTRY_OVERHEAD_BYTES;
      if (listBytes <= this.#listBytesMax) {
        fields.push(name, value);
      }
    }
    return { fields, isTooLarge: listBytes > this.#listBytesMax };
  }

  #readSizeUpdates(block: Uint8Array, end: number): void {
    const cursor = this.#cursor;
    while (cursor.at < end) {
      const first = block[cursor.at] as number;
      if (first < SIZE_UPDATE || first >= INCREMENTAL_INDEXING) {
        break;
      }
      const bytesMax = readInteger(block, cursor, end, SIZE_UPDATE_PREFIX);
      if (bytesMax > this.#tableBytesMax) {
        throw new HeaderCompressionError("A size update is above SETTINGS_HEADER_TABLE_SIZE");
      }
      this.#table.resize(bytesMax);
      this.#isSizeUpdateRequired = false;
    }
    if (this.#isSizeUpdateRequired) {
      throw new HeaderCompressionError("The block does not begin with the required size update");
    }
  }

  #nameAt(index: number): string {
    return index <= STATIC_INDEX_MAX
      ? (STATIC_NAMES[this.#checkedIndex(index)] as string)
      : this.#table.nameAt(this.#checkedIndex(index) - STATIC_INDEX_MAX);
  }

  #valueAt(index: number): string {
    return index <= STATIC_INDEX_MAX ? (STATIC_VALUES[index] as string) : this.#table.valueAt(index - STATIC_INDEX_MAX);
  }

  /** Returns the index if one of the tables has it (§2.3.3, §6.1). */
  #checkedIndex(index: number): number {
    if (index === 0 || index > STATIC_INDEX_MAX + this.#table.length) {
      throw new HeaderCompressionError("An index is in neither table");
    }
    return index;
  }

  /** Reads the name of a literal: the name of an entry, or a text. */
  #readName(block: Uint8Array, end: number, prefix: number): string {
    const index = readInteger(block, this.#cursor, end, prefix);
    return index === 0 ? this.#readText(block, end) : this.#nameAt(index);
  }

  #readText(block: Uint8Array, end: number): string {
    const start = this.#cursor.at;
    const from = this.#skipText(block, end);
    return textOf(block, start, from, this.#cursor.at);
  }

  /** Reads a path, which is probably one of the last ones. */
  #readPath(block: Uint8Array, end: number): string {
    const start = this.#cursor.at;
    const from = this.#skipText(block, end);
    const to = this.#cursor.at;
    const known = this.#paths.at(block, start, to);
    if (known !== undefined) {
      return known;
    }
    const path = textOf(block, start, from, to);
    this.#paths.remember(block, start, to, path);
    return path;
  }

  /** Moves the cursor after a text. Returns where the text begins, after its length. */
  #skipText(block: Uint8Array, end: number): number {
    const cursor = this.#cursor;
    if (cursor.at >= end) {
      throw new HeaderCompressionError("The block ends before a text");
    }
    const length = readInteger(block, cursor, end, TEXT_LENGTH_PREFIX);
    const from = cursor.at;
    if (length > end - from) {
      throw new HeaderCompressionError("The block ends within a text");
    }
    cursor.at = from + length;
    return from;
  }
}

/** Returns the text whose representation (§5.2) begins at `start`, with its bytes from `from` to `to`. */
function textOf(block: Uint8Array, start: number, from: number, to: number): string {
  if ((block[start] as number) < HUFFMAN) {
    return latin1Of(block, from, to);
  }
  const bytes = decodedBytesMax(to - from);
  const decoded = bytes <= TEXT_BYTES ? textBytes : Buffer.allocUnsafeSlow(bytes);
  return latin1Of(decoded, 0, decodeHuffman(block, from, to, decoded));
}
