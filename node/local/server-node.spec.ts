import { expect } from "chai";
import manifest from "../../package.json" with { type: "json" };
import { NODE_PACKAGES, NODE_VERSION, SERVER_NODE_MAJOR } from "./server-node.ts";

describe("the Node of members", () => {
  it("comes from the same packages as in the repository", () => {
    const packages = [...NODE_PACKAGES.values()].map((name) => [name, NODE_VERSION]);
    expect(Object.fromEntries(packages)).to.deep.equal(manifest.optionalDependencies);
    expect(NODE_VERSION.split(".")[0]).to.equal(String(SERVER_NODE_MAJOR));
  });
});
