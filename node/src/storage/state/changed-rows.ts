/** Changes of rows in memory: by key for reads, and by table for scans. */

import { ByteTable, hashOf, isWithin } from "../../bytes/index.ts";
import { type Change, type KeyRange, type Row, rowsPut } from "../../state/index.ts";

const TABLES = 256;

export class ChangedRows {
  /** By the letter of the table, which is the first byte of its keys. */
  readonly #tables: (ByteTable<Required<Change>> | undefined)[] = new Array(TABLES);
  #count = 0;
  #bytes = 0;

  /** Number of changed rows. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of the keys and values of all changes that were set, including replaced ones. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a key of the same table may be changed. For most reads the answer is no, and no hash is computed. */
  mayHave(key: Uint8Array): boolean {
    return (this.#tables[key[0] ?? 0]?.size ?? 0) > 0;
  }

  /** @param hash `hashOf(key)` */
  get(key: Uint8Array, hash: number): Change | undefined {
    return this.#tables[key[0] ?? 0]?.get(key, hash);
  }

  /** Sets the change of its key; replaces an earlier one. */
  set(change: Change): void {
    const { key, value, hash } = change;
    const table = this.#tableOf(key[0] ?? 0);
    const before = table.size;
    table.set(hash === undefined ? { key, value, hash: hashOf(key) } : (change as Required<Change>));
    this.#count += table.size - before;
    this.#bytes += key.length + (value?.length ?? 0);
  }

  /** Forgets the changes of the keys in the range. */
  forget({ from, to }: KeyRange): void {
    for (const table of this.#tablesWithin(from, to)) {
      const before = table.size;
      for (const { key, hash } of table.values()) {
        if (isWithin(key, from, to)) {
          table.delete(key, hash);
        }
      }
      this.#count += table.size - before;
    }
  }

  /** Whether a key between these bounds may be changed. */
  mayHaveWithin(from: Uint8Array, to: Uint8Array): boolean {
    return this.#tablesWithin(from, to).some(({ size }) => size > 0);
  }

  /** The rows with from ≤ key < to that the changes put, ascending. */
  rowsPut(from: Uint8Array, to: Uint8Array): Row[] {
    // Tables come in the order of their letters.
    return this.#tablesWithin(from, to).flatMap((table) => rowsPut(table.values(), from, to));
  }

  /** All changes, one for each key. */
  all(): Change[] {
    return this.#tables.flatMap((table) => table?.values() ?? []);
  }

  #tableOf(letter: number): ByteTable<Required<Change>> {
    let table = this.#tables[letter];
    if (table === undefined) {
      table = new ByteTable();
      this.#tables[letter] = table;
    }
    return table;
  }

  #tablesWithin(from: Uint8Array, to: Uint8Array): ByteTable<Required<Change>>[] {
    const tables: ByteTable<Required<Change>>[] = [];
    for (let letter = from[0] ?? 0; letter <= (to[0] ?? 0); letter++) {
      const table = this.#tables[letter];
      if (table !== undefined) {
        tables.push(table);
      }
    }
    return tables;
  }
}
