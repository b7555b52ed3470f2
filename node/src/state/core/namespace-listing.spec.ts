import { expect } from "chai";
import { AppliedLog } from "../../../test/index.ts";
import { listNamespaces, type NamespaceSelection } from "./namespace-listing.ts";

const ALL: NamespaceSelection = { prefix: "", names: null, entriesMax: 100, isVisible: () => true };

function logWith(names: readonly string[]): AppliedLog {
  const log = new AppliedLog();
  for (const namespace of names) {
    log.result<"create-namespace">({ kind: "create-namespace", namespace });
  }
  return log;
}

/** The names on each page. */
function pagesOf(log: AppliedLog, selection: Partial<NamespaceSelection> = {}): string[][] {
  const pages: string[][] = [];
  let after: string | null = null;
  do {
    const { namespaces, next } = listNamespaces(log.store, { ...ALL, ...selection }, after);
    pages.push(namespaces.map(({ name }) => name));
    after = next;
  } while (after !== null);
  return pages;
}

describe("a listing of namespaces", () => {
  it("is in the order of their names, page by page, with a prefix or without", () => {
    const log = logWith(["b", "a.b", "a", "ab"]);
    expect(pagesOf(log)).to.deep.equal([["a", "a.b", "ab", "b", "default"]]);
    expect(pagesOf(log, { entriesMax: 2 })).to.deep.equal([["a", "a.b"], ["ab", "b"], ["default"]]);
    expect(pagesOf(log, { prefix: "a", entriesMax: 2 })).to.deep.equal([["a", "a.b"], ["ab"]]);
    const [first] = listNamespaces(log.store, ALL, null).namespaces;
    expect(first).to.deep.equal({
      name: "a",
      createdAtMs: log.wallMs,
      createRevision: log.revision - 1,
      deleteRevision: 0,
    });
  });

  it("has only those that the caller may see and that exist", () => {
    const log = logWith(["b", "a", "c"]);
    const names = ["c", "none", "a", "default"];
    expect(pagesOf(log, { names })).to.deep.equal([["a", "c", "default"]]);
    expect(pagesOf(log, { names, entriesMax: 1 })).to.deep.equal([["a"], ["c"], ["default"], []]);
    expect(pagesOf(log, { names, prefix: "d" })).to.deep.equal([["default"]]);
    const isVisible = (name: string) => name !== "a";
    expect(pagesOf(log, { names, isVisible })).to.deep.equal([["c", "default"]]);
    expect(pagesOf(log, { isVisible })).to.deep.equal([["b", "c", "default"]]);
    expect(pagesOf(log, { names: [] })).to.deep.equal([[]]);
  });

  it("S44: reads at most 1,000 namespaces for a page", () => {
    const names = Array.from({ length: 1_500 }, (_, at) => `n${at + 1_000}`);
    const log = logWith(names);
    const seen: string[] = [];
    const isVisible = (name: string) => seen.push(name) > 1_400;
    const pages = pagesOf(log, { isVisible });
    expect(pages.map(({ length }) => length)).to.deep.equal([0, 100, 1]);
    expect(seen).to.deep.equal(["default", ...names]);
  });
});
