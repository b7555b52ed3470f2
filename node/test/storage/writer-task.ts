/** The input and output of crash-writer.ts: the terms that it and its spec share. */

/** A value that a writer got an answer for. */
export interface Acknowledgement {
  readonly value: number;
  readonly modRevision: number;
}

/** The progress of a writer, over all processes. */
export interface WriterState {
  /** The greatest value that was ever tried. */
  readonly tried: number;
  /** In order. */
  readonly acknowledged: readonly Acknowledgement[];
}

export interface WriterTask {
  readonly directory: string;
  readonly writers: readonly WriterState[];
  /** Whether the state is synced and the log compacted constantly, or hardly ever. */
  readonly isCompacting: boolean;
  /** New values per writer; then the process ends by itself. */
  readonly values: number;
}

/** The keys of a member at some revision. */
export interface FoundState {
  readonly revision: number;
  readonly keys: readonly {
    readonly key: string;
    readonly value: number;
    readonly version: number;
    readonly modRevision: number;
  }[];
}
