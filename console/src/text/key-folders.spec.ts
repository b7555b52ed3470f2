import { expect } from "chai";
import { folderEntries, folderPath } from "./key-folders.ts";

function namesBelow(prefix: string, ...keys: string[]): string[] {
  return folderEntries(
    keys.map((key) => ({ key })),
    prefix,
  ).map((entry) => (entry.kind === "folder" ? `${entry.name} (${entry.count})` : entry.name));
}

describe("folders of keys", () => {
  it("end at the next slash", () => {
    expect(namesBelow("", "a", "app/db/host", "app/db/port", "app/name", "b/c")).to.deep.equal([
      ...["a", "app/ (3)", "b/ (1)"],
    ]);
    expect(namesBelow("app/", "app/db/host", "app/db/port", "app/name")).to.deep.equal(["db/ (2)", "name"]);
  });

  it("never have an empty name, also when keys begin or end with a slash", () => {
    expect(namesBelow("", "/", "//", "/a/b", "x/")).to.deep.equal(["/", "//", "/a/ (1)", "x/"]);
    expect(namesBelow("a/", "a/", "a//b", "a/b")).to.deep.equal(["", "/b", "b"]);
  });

  it("work with a prefix in the middle of a name", () => {
    expect(namesBelow("ap", "app/x", "apple")).to.deep.equal(["p/ (1)", "ple"]);
  });

  it("lead to a prefix step by step", () => {
    expect(folderPath("app/db/ho")).to.deep.equal([
      { prefix: "app/", name: "app/" },
      { prefix: "app/db/", name: "db/" },
      { prefix: "app/db/ho", name: "ho" },
    ]);
    expect(folderPath("")).to.deep.equal([]);
  });
});
