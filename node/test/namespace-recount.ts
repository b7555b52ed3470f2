/**
 * Counts the usage of each namespace from the rows of a state one by one, independently of the code that updates the
 * stored counts. The stored counts must be the same.
 */

import { expect } from "chai";
import { compareBytes } from "../src/bytes/index.ts";
import { readUint32 } from "../src/primitives/index.ts";
import {
  decodeText,
  encodeText,
  type NamespaceUsage,
  type Row,
  type StateReader,
  scanNamespaceUsage,
} from "../src/state/index.ts";

type Counting = { -readonly [Quota in keyof NamespaceUsage]: number };

const HEAD = 1;
const NUMBER_BYTES = 8;
const LENGTH_BYTES = 4;
const LOG_ID_BYTES = 16;
/** A key's row: four numbers, then the length of the value and the value. */
const KEY_HEAD_BYTES = 4 * NUMBER_BYTES + 4;

/**
 * Throws an AssertionError unless the usage of every namespace is what its row says, and no other namespace has a row.
 */
export function expectExactUsage(state: StateReader): void {
  const { stored, counted } = usageTwice(state);
  expect(stored).to.deep.equal(counted);
}

/** The usage of each namespace that has any: as its row says, and counted. */
export function usageTwice(state: StateReader): {
  readonly stored: readonly (readonly [string, NamespaceUsage])[];
  readonly counted: readonly (readonly [string, NamespaceUsage])[];
} {
  const stored: [string, NamespaceUsage][] = [];
  scanNamespaceUsage(state, null, Number.MAX_SAFE_INTEGER, (namespace, usage) => stored.push([namespace, usage]));
  const counted = [...recount(state)].sort(([one], [other]) => compareBytes(encodeText(one), encodeText(other)));
  return { stored, counted };
}

function recount(state: StateReader): ReadonlyMap<string, NamespaceUsage> {
  const counts = new Map<string, Counting>();
  const countOf = (namespace: string): Counting => {
    const before = counts.get(namespace);
    const count = before ?? {
      bytes: 0,
      keys: 0,
      locks: 0,
      memory_bytes: 0,
      memory_regions: 0,
      event_bytes: 0,
      event_logs: 0,
      sessions: 0,
    };
    counts.set(namespace, count);
    return count;
  };
  visit(state, "d", ({ key, value }) => {
    const count = countOf(namespaceOf(key));
    count.keys++;
    count.bytes += key.length - key.indexOf(0, HEAD) - 1 + readUint32(value, KEY_HEAD_BYTES - LENGTH_BYTES);
  });
  const namespaceOfSession = new Map<number, string>();
  visit(state, "t", ({ key, value }) => {
    const namespace = namespaceOf(key);
    namespaceOfSession.set(numberAt(key, key.length - NUMBER_BYTES), namespace);
    const count = countOf(namespace);
    count.sessions++;
    count.bytes += key.length + value.length;
  });
  visit(state, "O", ({ key }) => {
    countOf(namespaceOfSession.get(numberAt(key, HEAD)) as string).bytes += key.length;
  });
  const namespaceOfLock = new Map<number, string>();
  visit(state, "l", ({ key, value }) => {
    namespaceOfLock.set(numberAt(value, 0), namespaceOf(key));
    const count = countOf(namespaceOf(key));
    count.locks++;
    count.bytes += key.length + value.length;
  });
  for (const table of ["h", "j"]) {
    visit(state, table, ({ key, value }) => {
      countOf(namespaceOfLock.get(numberAt(key, HEAD)) as string).bytes += key.length + value.length;
    });
  }
  visit(state, "m", ({ key, value }) => {
    const count = countOf(namespaceOf(key));
    count.memory_regions++;
    count.memory_bytes += numberAt(value, 0);
    count.bytes += key.length + value.length;
  });
  const namespaceOfNumber = new Map<number, string>();
  visit(state, "L", ({ value }) => {
    const namespace = textAt(value, NUMBER_BYTES, 1);
    namespaceOfNumber.set(numberAt(value, 0), namespace);
    countOf(namespace).event_logs++;
  });
  // The parts of a deleted log that are not erased yet.
  visit(state, "F", ({ key, value }) => namespaceOfNumber.set(numberAt(key, HEAD), textAt(value, 0, 2)));
  for (const [table, withTimer] of [
    ["E", 0],
    ["D", 1],
  ] as const) {
    visit(state, table, ({ key, value }) => {
      const timerBytes = withTimer * (key.length + NUMBER_BYTES + LOG_ID_BYTES);
      const namespace = namespaceOfNumber.get(numberAt(key, HEAD)) as string;
      countOf(namespace).event_bytes += key.length + value.length + timerBytes;
    });
  }
  return counts;
}

function visit(state: StateReader, table: string, each: (row: Row) => void): void {
  const letter = table.charCodeAt(0);
  state.scan(Uint8Array.of(letter), Uint8Array.of(letter + 1), (row) => {
    each(row);
    return true;
  });
}

/** The namespace at the beginning of a row's key. */
function namespaceOf(key: Uint8Array): string {
  return decodeText(key.subarray(HEAD, key.indexOf(0, HEAD)));
}

/** The text after `skipped` other byte strings. */
function textAt(bytes: Uint8Array, offset: number, skipped: number): string {
  let at = offset;
  const lengthAt = () => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
  for (let left = skipped; left > 0; left--) {
    at += LENGTH_BYTES + lengthAt();
  }
  return decodeText(bytes.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + lengthAt()));
}

function numberAt(bytes: Uint8Array, offset: number): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(offset));
}
