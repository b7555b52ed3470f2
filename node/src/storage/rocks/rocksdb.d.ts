/** Types of the RocksDB binding, as far as rocks.ts uses it; the package brings none. */
declare module "rocksdb" {
  export interface RocksIterator {
    /** Up to this many rows as key, value, key, value, … */
    _nextvSync(rows: number): { readonly rows: readonly (Buffer | undefined)[]; readonly finished: boolean };
    _closeSync(): void;
  }

  export interface RocksBatch {
    _put(key: Uint8Array, value: Uint8Array): void;
    _del(key: Uint8Array): void;
    _writeSync(options: { readonly sync: boolean }): void;
    _closeSync(): void;
  }

  export class RocksLevel {
    constructor(
      location: string | bigint,
      options: { readonly keyEncoding: "buffer"; readonly valueEncoding: "buffer" },
    );
    readonly handle: bigint;
    readonly location: string;
    open(options: object): Promise<void>;
    close(): Promise<void>;
    batch(): RocksBatch;
    iterator(options: {
      readonly gte: Uint8Array;
      readonly lt: Uint8Array;
      readonly fillCache?: boolean;
      readonly highWaterMarkBytes?: number;
      readonly values?: boolean;
    }): RocksIterator;
    /** Forgets a batch or iterator that was closed synchronously. */
    detachResource(resource: RocksBatch | RocksIterator): void;
    getProperty(name: string): string;
    /** Undefined = there is no row; null = not read, because the values before it have this many bytes. */
    _getManySync(
      keys: readonly Uint8Array[],
      options: { readonly valueEncoding: "buffer"; readonly highWaterMarkBytes?: number },
    ): (Buffer | undefined | null)[];
    _clear(range: { readonly gte: Uint8Array; readonly lt: Uint8Array }, callback: (error: Error | null) => void): void;
  }
}
