import { expect } from "chai";
import { namespacesOf } from "./namespace-list.ts";

describe("namespaces of a user", () => {
  it("are separated by commas or spaces, and each counts once", () => {
    expect(namespacesOf(" default, shop  prod,\ndefault ")).to.deep.equal(["default", "shop", "prod"]);
    expect(namespacesOf("*")).to.deep.equal(["*"]);
    expect(namespacesOf(" , ")).to.deep.equal([]);
  });
});
