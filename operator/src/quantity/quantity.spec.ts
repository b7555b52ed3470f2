import { expect } from "chai";
import { clusterOf } from "../../test/index.ts";
import { memoryLimitOf } from "./memory-limit.ts";
import { amountOf, parseQuantity } from "./quantity.ts";

describe("quantities of Kubernetes", () => {
  it("are read as Kubernetes writes them, rounded up", () => {
    const texts = ["8Gi", "1.5Ki", "2G", "100m", "3e2", "7", "0.5Ti", "2e9", "1288490188800m", "+1E", "7u", "5."];
    expect(texts.map(parseQuantity)).to.deep.equal([
      ...[8 * 1024 ** 3, 1536, 2e9, 1, 300, 7, 512 * 1024 ** 3, 2e9, 1_288_490_189, 1e18, 1, 5],
    ]);
  });

  it("have exact amounts below one", () => {
    expect(["250m", "0.7", "700m", "100u", "5n"].map(amountOf)).to.deep.equal([0.25, 0.7, 0.7, 1e-4, 5e-9]);
  });

  it("are nothing else", () => {
    for (const text of ["", "Gi", "1X", "-1", "1 Gi", "1e", "m", "1mi", "."]) {
      expect(parseQuantity(text), text).to.equal(undefined);
    }
  });
});

describe("the memory limit of a member", () => {
  const resources = { limits: { memory: "2Gi" } };
  const overlay = (name: string, limits: object) => ({ spec: { containers: [{ name, resources: { limits } }] } });

  it("is that of the overlay, if it has one for the member, and else that of the resources", () => {
    const limitOf = (spec: object) => memoryLimitOf(clusterOf(spec).spec);
    const own = { field: "spec.resources.limits.memory", amount: "2Gi", bytes: 2 * 1024 ** 3 };
    expect(limitOf({ resources })).to.deep.equal(own);
    expect(limitOf({ resources, podTemplate: overlay("other", { memory: "1Gi" }) })).to.deep.equal(own);
    expect(limitOf({ resources, podTemplate: overlay("quoin", { cpu: "1" }) })).to.deep.equal(own);
    expect(limitOf({ resources, podTemplate: overlay("quoin", { memory: "4Gi" }) })).to.deep.equal({
      amount: "4Gi",
      bytes: 4 * 1024 ** 3,
      field: "spec.podTemplate.spec.containers[quoin].resources.limits.memory",
    });
    expect(limitOf({ resources: { limits: {} } })).to.equal(undefined);
  });
});
