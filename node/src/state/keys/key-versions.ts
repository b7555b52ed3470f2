/**
 * The versions of one key, the newest first, as far back as the history of changes reaches.
 *
 * The history is ordered by revision and has no index by key. But every change has the key as it was before, with the
 * revision of the change before. So versions form a chain, and each costs one read. The chain ends where the key was
 * created. Whatever the key was before that, or before a deletion, is found by a search backwards through the history.
 *
 * A page searches a bounded part of the history (S44). So it may have fewer versions than the caller wants, even none,
 * and more may follow.
 */

import { equalBytes } from "../../bytes/index.ts";
import {
  compactRevisionOf,
  type KeyChange,
  type RevisionChanges,
  readHistory,
  requireNamespace,
  type StateReader,
  type StoredKey,
  scanHistory,
} from "../core/index.ts";
import { type PageBounds, readKey } from "./keys.ts";

/** The key as one change left it. */
export interface KeyVersion {
  readonly kind: KeyChange["kind"];
  /** The key after the change. If it was removed: its last value, and the revision of the removal. */
  readonly stored: StoredKey;
  /** Cluster tick of the change in milliseconds; null = unknown, because the history has dropped the change. */
  readonly changedMs: number | null;
}

export interface KeyVersionPage {
  readonly versions: readonly KeyVersion[];
  /** No version from this revision on is missing in this page and the pages before it. */
  readonly searchedRevision: number;
  /** Whether nothing older is known. Otherwise the next page continues below `searchedRevision`. */
  readonly isLast: boolean;
  /** The first revision from which the history of the namespace is complete. */
  readonly compactRevision: number;
}

/** Which key. */
export interface KeyName {
  readonly namespace: string;
  readonly key: Uint8Array;
}

/** Bytes of the history that one page reads; a single revision may have more. */
const READ_BYTES_MAX = 1024 * 1024;
/** Revisions with changes that one page reads. */
const READ_REVISIONS_MAX = 250;
/** Parts of the history that one page searches, each by one scan. */
const PARTS_MAX = 8;
/** Revisions of the first part; a part with few changes is followed by one of twice its size. */
const PART_REVISIONS = 64;
/** Bytes of a part; a part with more is read again as a smaller one. */
const PART_BYTES_MAX = 256 * 1024;
const NO_BYTES = new Uint8Array(0);

/**
 * One page of versions, of a state with this revision. Raises NAMESPACE_NOT_FOUND.
 *
 * @param before `searchedRevision` of the previous page; null = the first page.
 */
export function listKeyVersions(
  reader: StateReader,
  keyName: KeyName,
  revision: number,
  before: number | null,
  bounds: PageBounds,
): KeyVersionPage {
  requireNamespace(reader, keyName.namespace);
  const compactRevision = compactRevisionOf(reader, keyName.namespace);
  const page = new PageInProgress(bounds);
  const search = new BackwardSearch(reader, keyName, Math.max(1, compactRevision));
  let searchedRevision = before ?? revision + 1;
  let next = before === null ? firstStep(reader, keyName, revision) : stepBelow(search.changeAt(before), before);
  for (;;) {
    const { at, known } = next;
    if (at < search.from) {
      // Its change is dropped, but the version itself is known.
      if (known !== null && !page.add({ kind: "put", stored: known, changedMs: null })) {
        break;
      }
      searchedRevision = known === null ? compactRevision : at;
      return { versions: page.versions, searchedRevision, isLast: true, compactRevision };
    }
    if (search.isExhausted) {
      break;
    }
    const found = search.find(at);
    if (found.change !== null && !page.add(versionOf(found.change))) {
      searchedRevision = found.revision + 1;
      break;
    }
    searchedRevision = found.revision;
    next = stepBelow(found.change, found.revision);
  }
  return { versions: page.versions, searchedRevision, isLast: false, compactRevision };
}

/** A change of the key. */
interface FoundChange {
  readonly change: KeyChange;
  readonly tickMs: number;
}

/** The next revision to look at, and the version that it made, if that is known without its change. */
interface Step {
  readonly at: number;
  readonly known: StoredKey | null;
}

function firstStep(reader: StateReader, { namespace, key }: KeyName, revision: number): Step {
  const current = readKey(reader, namespace, key);
  return current === undefined ? { at: revision, known: null } : { at: current.modRevision, known: current };
}

/** @param found the change at the revision; null if no change there concerns the key. */
function stepBelow(found: FoundChange | null, revision: number): Step {
  const previous = found?.change.previous ?? null;
  return previous === null ? { at: revision - 1, known: null } : { at: previous.modRevision, known: previous };
}

function versionOf({ change, tickMs }: FoundChange): KeyVersion {
  return { kind: change.kind, stored: change.current, changedMs: tickMs };
}

/** Collects versions within the limits of a page. */
class PageInProgress {
  readonly versions: KeyVersion[] = [];
  readonly #bounds: PageBounds;
  #bytes = 0;

  constructor(bounds: PageBounds) {
    this.#bounds = bounds;
  }

  /** Takes the version; returns false if the page is full. The first version always fits. */
  add(version: KeyVersion): boolean {
    const { entriesMax, bytesMax, keysOnly } = this.#bounds;
    const { stored } = version;
    const bytes = stored.key.length + (keysOnly ? 0 : stored.value.length);
    const isFull = this.versions.length >= entriesMax || this.#bytes + bytes > bytesMax;
    if (isFull && this.versions.length > 0) {
      return false;
    }
    this.#bytes += bytes;
    this.versions.push(keysOnly ? { ...version, stored: { ...stored, value: NO_BYTES } } : version);
    return true;
  }
}

/** Searches the history backwards for changes of one key, as far as one page may read. */
class BackwardSearch {
  /** The first revision of the history. */
  readonly from: number;
  readonly #reader: StateReader;
  readonly #keyName: KeyName;
  #bytes = 0;
  #revisions = 0;
  #parts = 0;
  #partRevisions = PART_REVISIONS;

  constructor(reader: StateReader, keyName: KeyName, from: number) {
    this.#reader = reader;
    this.#keyName = keyName;
    this.from = from;
  }

  /** Whether this page has read as much as it may. */
  get isExhausted(): boolean {
    return this.#bytes >= READ_BYTES_MAX || this.#revisions >= READ_REVISIONS_MAX || this.#parts >= PARTS_MAX;
  }

  /** The change of the key at this revision; null if there is none, or if the history has dropped it. */
  changeAt(revision: number): FoundChange | null {
    const changes = readHistory(this.#reader, revision);
    if (changes === undefined) {
      return null;
    }
    this.#revisions++;
    this.#bytes += changes.bytes;
    return this.#changeIn(changes);
  }

  /**
   * The last change of the key at or below the revision `at`. If there is none in what this page may read: null, with
   * the revision down to which there is none.
   */
  find(at: number): { readonly change: FoundChange | null; readonly revision: number } {
    const change = this.changeAt(at);
    let to = at - 1;
    if (change !== null || to < this.from) {
      return { change, revision: at };
    }
    while (!this.isExhausted) {
      const from = Math.max(this.from, to - this.#partRevisions + 1);
      const part = this.#search(from, to);
      if (part === null) {
        continue;
      }
      if (part.change !== null || from === this.from) {
        return { change: part.change, revision: part.change === null ? from : part.revision };
      }
      to = from - 1;
    }
    return { change: null, revision: to + 1 };
  }

  /**
   * The last change of the key in from ≤ revision ≤ to; null if the part has too many bytes, so that it was not read to
   * its end. Sets the size of the next part.
   */
  #search(from: number, to: number): { readonly change: FoundChange | null; readonly revision: number } | null {
    let last: FoundChange | null = null;
    let revision = 0;
    let bytes = 0;
    let revisions = 0;
    let isWhole = true;
    scanHistory(this.#reader, from, to, (changes) => {
      bytes += changes.bytes;
      revisions++;
      if (bytes > PART_BYTES_MAX && from < to) {
        isWhole = false;
        return false;
      }
      const change = this.#changeIn(changes);
      if (change !== null) {
        last = change;
        revision = changes.revision;
      }
      return true;
    });
    this.#parts++;
    this.#bytes += bytes;
    this.#revisions += revisions;
    if (!isWhole) {
      // About as many revisions of this size as fit into a part, but fewer than this time.
      const fitting = Math.floor((revisions * PART_BYTES_MAX) / bytes);
      this.#partRevisions = Math.max(1, Math.min(fitting, to - from));
      return null;
    }
    if (revisions < this.#partRevisions / 2) {
      this.#partRevisions *= 2;
    }
    return { change: last, revision };
  }

  #changeIn({ changes, tickMs }: RevisionChanges): FoundChange | null {
    for (const change of changes) {
      if (change.about === "key" && this.#isOfKey(change)) {
        return { change, tickMs };
      }
    }
    return null;
  }

  #isOfKey({ namespace, current }: KeyChange): boolean {
    return namespace === this.#keyName.namespace && equalBytes(current.key, this.#keyName.key);
  }
}
