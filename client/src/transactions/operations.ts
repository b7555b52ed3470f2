/**
 * Conditions and operations of a transaction, as object literals: the messages of the contract, with numbers for counts,
 * and strings or bytes for values. A type connects each operation with its result.
 */

import type {
  AppendResult,
  DeletePrefixResult,
  DeleteResult,
  IncrementResult,
  ListResult,
  PutResult,
  ReadMemoryResult,
  ReleaseResult,
  TouchResult,
  WriteMemoryResult,
} from "@quoin/proto";
import type { Guard, Plain } from "../calls/index.ts";
import type { PreviousEntry } from "../kv/index.ts";

/** Exactly one of these fields. */
export type OneOf<Fields> = {
  [Name in keyof Fields]: { readonly [Only in Name]: Fields[Only] } & {
    readonly [Other in Exclude<keyof Fields, Name>]?: undefined;
  };
}[keyof Fields];

/** How what there is must be in relation to what is expected. Values are compared byte by byte. */
export type Comparison = "EQUAL" | "NOT_EQUAL" | "LESS" | "GREATER";

/** What may be expected of a key. A key that does not exist has 0 for its revisions and version, and no value. */
export interface KeyExpectation {
  /** Whether the key exists. */
  exists: boolean;
  /** Its value. Of a key that does not exist, only `NOT_EQUAL` is true. */
  value: string | Uint8Array;
  /** Revision of its latest change. */
  modRevision: number;
  /** Revision that created it. */
  createRevision: number;
  /** Number of changes since its creation. */
  version: number;
  /** Id of the session that it ends with; 0 = none. */
  sessionId: number;
}

/** A key, and how it must be in relation to what is expected. */
export interface ComparedKey {
  readonly key: string;
  /** Default `EQUAL`, which is the only one for `exists`. */
  readonly operator?: Comparison | undefined;
}

/** What is expected of one key. */
export type KeyCondition = ComparedKey & OneOf<KeyExpectation>;

/** The keys with a prefix have not changed since a revision, as far back as the service looks. */
export interface PrefixCondition {
  /** Empty = all keys of the namespace. */
  readonly prefix: string;
  /** Revision of the answer from which the caller knows the keys. */
  readonly unchangedSince: number;
}

/** What is expected of one event log. */
export interface LogCondition {
  readonly logId: string;
  /** Default `EQUAL`. */
  readonly operator?: Comparison | undefined;
  /** The last sequence of the log; 0 = it has never had an event. */
  readonly lastSequence: number;
}

/** The fields of each kind of condition. */
export interface ConditionFields {
  key: KeyCondition;
  prefix: PrefixCondition;
  /** The hold is live; of a read-write lock, in mode WRITE. */
  hold: Guard;
  log: LogCondition;
  /** The session with this id is live, of any user. */
  sessionId: number;
}

/** A condition on the state before the operations. */
export type TransactionCondition = OneOf<ConditionFields>;

/** Creates or overwrites a key. */
export interface PutFields {
  readonly key: string;
  readonly value: string | Uint8Array;
  /** Life of the key in seconds, 1 to 31,536,000; without it the key does not expire. */
  readonly ttlSeconds?: number | undefined;
  /** The revision that the key must have; 0 = it must not exist. Else the transaction is REVISION_MISMATCH. */
  readonly expectedModRevision?: number | undefined;
  /** Whether the result contains the previous state of the key. */
  readonly returnPrevious?: boolean | undefined;
  /** Id of a session of this user, with which the key ends; without it the key belongs to no session any more. */
  readonly sessionId?: number | undefined;
}

/** Deletes a key. */
export interface DeleteFields {
  readonly key: string;
  /** The revision that the key must have, else the transaction is REVISION_MISMATCH. */
  readonly expectedModRevision?: number | undefined;
  /** Whether the result contains the last state of the key. */
  readonly returnPrevious?: boolean | undefined;
  /** Whether a key that does not exist is no error. Default false. */
  readonly missingOk?: boolean | undefined;
}

/** Adds to the number whose decimal text is the value of a key. A key that does not exist counts as 0. */
export interface IncrementFields {
  readonly key: string;
  /** What is added, within ±(2^53 − 1). */
  readonly delta: number | bigint;
  /** Life in seconds if this creates the key; without it the key does not expire. */
  readonly ttlSeconds?: number | undefined;
}

/** Reads keys with a prefix. */
export interface ListFields {
  /** Empty = all keys of the namespace. */
  readonly prefix: string;
  /** The most keys, 1 to 1,000. Default 100. The list also ends at about 256 KiB. */
  readonly limit?: number | undefined;
  /** Only keys above this one. Default: from the first one. */
  readonly startAfter?: string | undefined;
  /** Whether to leave out the values. */
  readonly keysOnly?: boolean | undefined;
}

/** Overwrites bytes of a memory region. */
export interface WriteMemoryFields {
  readonly regionId: string;
  readonly offset: number;
  readonly data: string | Uint8Array;
  /** The version that the region must have, else the transaction is VERSION_MISMATCH. */
  readonly expectedVersion?: number | undefined;
}

/** Appends events to a log. */
export interface AppendFields {
  /** The id, not the name. */
  readonly logId: string;
  /** 1 to 10,000 events. */
  readonly payloads: readonly (string | Uint8Array)[];
  /** Of one event its key, of several the base of their keys, for which it is required. Default: none. */
  readonly idempotencyKey?: string | undefined;
  /** The last sequence that the log must have, else the transaction is SEQUENCE_CONFLICT; 0 = no event yet. */
  readonly expectedSequence?: number | undefined;
}

/** Operations under conditions of their own, which see what the operations before have changed. */
export interface NestedFields {
  readonly compare?: readonly TransactionCondition[] | undefined;
  readonly success?: readonly TransactionOperation[] | undefined;
  readonly failure?: readonly TransactionOperation[] | undefined;
}

/** The fields of each kind of operation. */
export interface OperationFields {
  put: PutFields;
  delete: DeleteFields;
  /** Deletes all keys with the prefix. */
  deletePrefix: { readonly prefix: string };
  /** Gives an existing key a new life in seconds; 0 = it does not expire any more. */
  touch: { readonly key: string; readonly ttlSeconds: number };
  increment: IncrementFields;
  /** Reads a key. One that does not exist is no error. */
  get: { readonly key: string };
  list: ListFields;
  writeMemory: WriteMemoryFields;
  /** Reads 0 to 1 MiB of a memory region. */
  readMemory: { readonly regionId: string; readonly offset: number; readonly length: number };
  append: AppendFields;
  /** Releases a hold of the caller, after the last operation. */
  release: Guard;
  /** At most 8 transactions lie within each other, with the outermost. */
  transaction: NestedFields;
}

/** One operation of a transaction. A key may be written once. */
export type TransactionOperation = OneOf<OperationFields>;

/** A key as the transaction has seen it. Its value is undefined if `valuesOmitted` is true. */
export type TransactedEntry = PreviousEntry;

type WithEntry<Result, Name extends string> = Omit<Plain<Result>, Name> & {
  readonly [Entry in Name]: TransactedEntry | undefined;
};

/** The result of each kind of operation, but of a nested transaction. */
export interface OperationResults {
  put: WithEntry<PutResult, "previous">;
  delete: WithEntry<DeleteResult, "previous">;
  deletePrefix: Plain<DeletePrefixResult>;
  touch: Plain<TouchResult>;
  /** The sum may be any number of 64 bits. */
  increment: IncrementResult;
  /** Undefined = the key does not exist. */
  get: { readonly kv: TransactedEntry | undefined };
  list: Omit<Plain<ListResult>, "items"> & { readonly items: readonly TransactedEntry[] };
  writeMemory: Plain<WriteMemoryResult>;
  /** The bytes are undefined if `valuesOmitted` is true. */
  readMemory: Omit<Plain<ReadMemoryResult>, "data"> & { readonly data: Uint8Array | undefined };
  append: Plain<AppendResult>;
  release: Plain<ReleaseResult>;
}

type OperationsOf<List> = List extends readonly TransactionOperation[] ? List : readonly [];

/** The result of one operation. */
export type ResultOf<Operation> = Operation extends { readonly transaction: infer Nested extends NestedFields }
  ? BranchResult<OperationsOf<Nested["success"]>, OperationsOf<Nested["failure"]>>
  : {
      [Name in keyof OperationResults]: Operation extends { readonly [Only in Name]: object }
        ? OperationResults[Name]
        : never;
    }[keyof OperationResults];

/** The results of operations, in their order. */
export type ResultsOf<Operations extends readonly TransactionOperation[]> = {
  -readonly [At in keyof Operations]: ResultOf<Operations[At]>;
};

/** All conditions were true. */
export interface Succeeded<Operations extends readonly TransactionOperation[]> {
  readonly succeeded: true;
  /** One for each operation that has run, in order. */
  readonly results: ResultsOf<Operations>;
  readonly failedCompare: undefined;
}

/** A condition was not true. */
export interface Failed<Operations extends readonly TransactionOperation[]> {
  readonly succeeded: false;
  /** One for each operation that has run, in order. */
  readonly results: ResultsOf<Operations>;
  /** Position of the first condition that was not true. */
  readonly failedCompare: number;
}

/** Which operations have run, and their results. */
export type BranchResult<
  Success extends readonly TransactionOperation[],
  Failure extends readonly TransactionOperation[],
> = Succeeded<Success> | Failed<Failure>;
