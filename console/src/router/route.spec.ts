import { expect } from "chai";
import { formatRoute, parseRoute } from "./route.ts";

describe("routes", () => {
  it("keep every name", () => {
    for (const name of ["default", "a/b?c#d", "100%", "\u{1F600}", "<img src=x>", "..", " "]) {
      const { page, path, query } = parseRoute(formatRoute("keys", [name], { key: name, prefix: "" }));
      expect([page, path, [...query]]).to.deep.equal(["keys", [name], [["key", name]]]);
    }
  });

  it("are read from what a person may have typed", () => {
    expect(parseRoute("")).to.deep.equal({ page: "", path: [], query: new Map() });
    expect(parseRoute("#/keys")).to.deep.equal({ page: "keys", path: [], query: new Map() });
    expect(parseRoute("#/keys/").path).to.deep.equal([]);
    expect(parseRoute("#locks/%E0%A4%A").path).to.deep.equal(["%E0%A4%A"]);
  });
});
