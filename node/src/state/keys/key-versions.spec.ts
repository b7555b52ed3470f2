import { expect } from "chai";
import { AppliedLog, createLock } from "../../../test/index.ts";
import { CoordinationError, encodeText, type StateReader } from "../core/index.ts";
import { type KeyVersion, type KeyVersionPage, listKeyVersions } from "./key-versions.ts";
import { expiredKeys, type PageBounds } from "./keys.ts";

const ALL: PageBounds = { entriesMax: 1_000, bytesMax: 1_000_000, keysOnly: false };

function put(log: AppliedLog, key: string, value: string | Uint8Array, ttlSeconds = 0, namespace = "default"): number {
  const bytes = typeof value === "string" ? encodeText(value) : value;
  return log.result<"put-key">({
    kind: "put-key",
    namespace,
    key: encodeText(key),
    value: bytes,
    ttlSeconds,
    expectedModRevision: undefined,
    returnPrevious: false,
  }).modRevision;
}

function remove(log: AppliedLog, key: string): number {
  const changes = { expectedModRevision: undefined, returnPrevious: false };
  return log.result<"delete-key">({ kind: "delete-key", namespace: "default", key: encodeText(key), ...changes })
    .revision;
}

/** Uses up revisions that change no key and no lock. */
function skip(log: AppliedLog, count: number): void {
  const region = { kind: "allocate-memory", namespace: "default", sizeBytes: 1, label: "" } as const;
  const { regionId } = log.result<"allocate-memory">(region);
  for (let left = count - 1; left > 0; left--) {
    log.result<"resize-memory">({
      kind: "resize-memory",
      namespace: "default",
      regionId,
      sizeBytes: 1,
      expectedVersion: undefined,
    });
  }
}

function compact(log: AppliedLog, revision: number): void {
  log.lead({ kind: "compact-history", revision, subject: "user-owner", request: null });
}

/** Every page, from the first to the last. */
function pagesOf(log: AppliedLog, key: string, bounds: Partial<PageBounds> = {}, reader: StateReader = log.store) {
  const pages: KeyVersionPage[] = [];
  let before: number | null = null;
  do {
    const named = { namespace: "default", key: encodeText(key) };
    const page: KeyVersionPage = listKeyVersions(reader, named, log.revision, before, { ...ALL, ...bounds });
    pages.push(page);
    before = page.isLast ? null : page.searchedRevision;
  } while (before !== null);
  return pages;
}

function textOf({ kind, stored, changedMs }: KeyVersion): string {
  const value = Buffer.from(stored.value).toString().slice(0, 8);
  return `${kind} ${value}@${stored.modRevision}${changedMs === null ? " old" : ""}`;
}

/** The versions on each page. */
function textsOf(log: AppliedLog, key: string, bounds: Partial<PageBounds> = {}): string[][] {
  return pagesOf(log, key, bounds).map(({ versions }) => versions.map(textOf));
}

describe("the versions of a key", () => {
  it("are its changes, the newest first, also those before it was deleted or expired", () => {
    const log = new AppliedLog();
    put(log, "k", "1");
    put(log, "kk", "other");
    put(log, "k", "2", 10);
    log.tickMs += 11_000;
    log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 10) });
    log.result<"create-lock">(createLock({ name: "k" }));
    put(log, "k", "3");
    log.result<"create-namespace">({ kind: "create-namespace", namespace: "n" });
    put(log, "k", "elsewhere", 0, "n");
    log.tickMs += 500;
    put(log, "k", "4");
    const first = log.revision - 8;
    const texts = ["put 4@9", "put 3@6", "expire 2@4", "put 2@3", "put 1@1"].map((text) => {
      const [kind, revision] = text.split("@");
      return `${kind}@${Number(revision) + first - 1}`;
    });
    expect(textsOf(log, "k")).to.deep.equal([texts]);
    const [page] = pagesOf(log, "k");
    expect(page?.versions.map(({ changedMs }) => log.tickMs - (changedMs ?? 0))).to.deep.equal([
      ...[0, 500, 500, 11_500, 11_500],
    ]);
    expect(page?.versions.map(({ stored }) => [stored.version, stored.createRevision - first])).to.deep.equal([
      ...[
        [2, 5],
        [1, 5],
        [2, 0],
        [2, 0],
        [1, 0],
      ],
    ]);
    expect(page).to.include({ isLast: true, searchedRevision: 0, compactRevision: 0 });
    remove(log, "k");
    expect(textsOf(log, "k")[0]?.slice(0, 2)).to.deep.equal([`delete 4@${log.revision}`, `put 4@${log.revision - 1}`]);
  });

  it("are none if there was never such a key, whose namespace must exist", () => {
    const log = new AppliedLog();
    put(log, "a", "1");
    expect(textsOf(log, "b")).to.deep.equal([[]]);
    expect(() => listKeyVersions(log.store, { namespace: "none", key: encodeText("a") }, 1, null, ALL))
      .to.throw(CoordinationError)
      .with.property("reason", "NAMESPACE_NOT_FOUND");
  });

  it("come page by page, each once, whatever ends a page", () => {
    const log = new AppliedLog();
    const revisions = [
      put(log, "k", "1"),
      put(log, "k", "2"),
      remove(log, "k"),
      put(log, "k", "3"),
      put(log, "k", "4"),
    ];
    const all = pagesOf(log, "k")[0]?.versions.map(textOf) ?? [];
    expect(all).to.have.length(5);
    for (const entriesMax of [1, 2, 3, 4, 5]) {
      const pages = pagesOf(log, "k", { entriesMax });
      expect(pages.flatMap(({ versions }) => versions.map(textOf))).to.deep.equal(all);
      expect(pages.every(({ versions }) => versions.length <= entriesMax)).to.equal(true);
    }
    expect(textsOf(log, "k", { bytesMax: 4 }).map(({ length }) => length)).to.deep.equal([2, 2, 1]);
    expect(textsOf(log, "k", { bytesMax: 1 }).map(({ length }) => length)).to.deep.equal([1, 1, 1, 1, 1]);
    const [first] = pagesOf(log, "k", { entriesMax: 2 });
    expect(first?.searchedRevision, "everything from there on is in the page").to.be.above(revisions[2] ?? 0);
    const [keysOnly] = pagesOf(log, "k", { keysOnly: true, bytesMax: 5 });
    expect(keysOnly?.versions.map(({ stored }) => stored.value.length)).to.deep.equal([0, 0, 0, 0, 0]);
  });

  it("reach as far as the history, and one version further", () => {
    const log = new AppliedLog();
    const revisions = [put(log, "k", "1"), put(log, "k", "2"), put(log, "k", "3")];
    compact(log, revisions[2] ?? 0);
    expect(textsOf(log, "k")).to.deep.equal([[`put 3@${revisions[2]}`, `put 2@${revisions[1]} old`]]);
    expect(textsOf(log, "k", { entriesMax: 1 })).to.deep.equal([
      [`put 3@${revisions[2]}`],
      [`put 2@${revisions[1]} old`],
    ]);
    expect(pagesOf(log, "k").at(-1)).to.include({ searchedRevision: revisions[1], compactRevision: revisions[2] });
    put(log, "other", "1");
    compact(log, log.revision);
    expect(textsOf(log, "k"), "of an unchanged key, the present one").to.deep.equal([[`put 3@${revisions[2]} old`]]);
    remove(log, "k");
    compact(log, log.revision + 1);
    put(log, "other", "2");
    compact(log, log.revision);
    expect(textsOf(log, "k"), "of a deleted key, none").to.deep.equal([[]]);
    expect(pagesOf(log, "k")[0]).to.include({ searchedRevision: log.revision, isLast: true });
  });

  it("S44: are searched in bounded parts of the history, also where revisions are without changes", () => {
    const log = new AppliedLog();
    put(log, "k", "1");
    const last = remove(log, "k");
    for (let count = 0; count < 9_000; count++) {
      put(log, "other", String(count));
    }
    let scans = 0;
    let rows = 0;
    const counting: StateReader = {
      get: (key) => log.store.get(key),
      scan: (from, to, visit) => {
        scans++;
        log.store.scan(from, to, (row) => {
          rows++;
          return visit(row);
        });
      },
    };
    const counts: [number, number][] = [];
    const named = { namespace: "default", key: encodeText("k") };
    let before: number | null = null;
    const found: string[] = [];
    do {
      [scans, rows] = [0, 0];
      const page: KeyVersionPage = listKeyVersions(counting, named, log.revision, before, ALL);
      counts.push([scans, rows]);
      found.push(...page.versions.map(textOf));
      expect(page.searchedRevision).to.be.below(before ?? log.revision + 1);
      before = page.isLast ? null : page.searchedRevision;
    } while (before !== null);
    expect(found).to.deep.equal([`delete 1@${last}`, `put 1@${last - 1}`]);
    expect(counts.length).to.be.within(25, 40);
    expect(Math.max(...counts.map(([count]) => count))).to.be.at.most(8);
    expect(Math.max(...counts.map(([, count]) => count))).to.be.at.most(330);
  });

  it("S44: skip long stretches of revisions without changes of keys and locks in few reads", () => {
    const log = new AppliedLog();
    put(log, "k", "1");
    const last = remove(log, "k");
    skip(log, 5_000);
    expect(textsOf(log, "k")).to.deep.equal([[`delete 1@${last}`, `put 1@${last - 1}`]]);
  });

  it("S44: are searched in smaller parts among large values, and found there", () => {
    const log = new AppliedLog();
    const large = new Uint8Array(400_000);
    put(log, "k", "1");
    const last = remove(log, "k");
    for (let count = 0; count < 30; count++) {
      put(log, "other", large);
    }
    const pages = pagesOf(log, "k");
    expect(pages.flatMap(({ versions }) => versions.map(textOf))).to.deep.equal([
      `delete 1@${last}`,
      `put 1@${last - 1}`,
    ]);
    expect(pages.length, "24 MB of history").to.be.within(10, 31);
    put(log, "big", large);
    for (let count = 0; count < 12; count++) {
      put(log, "big", large);
    }
    const keysOnly = textsOf(log, "big", { keysOnly: true });
    expect(keysOnly.flat()).to.have.length(13);
    expect(keysOnly[0]?.length, "values count although they are left out").to.be.within(2, 4);
  });
});
