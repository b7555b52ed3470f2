import { expect } from "chai";
import { isFree } from "../../local/index.ts";
import { claimPortOf, stablePorts } from "./stable-ports.ts";

describe("ports of the members of a test", () => {
  it("are free, and claimed for as long as this process lives, also while their member is down", async () => {
    const given = await Promise.all(Array.from({ length: 20 }, stablePorts));
    const ports = given.flatMap((each) => Object.values(each));
    expect(new Set(ports).size).to.equal(ports.length);
    expect(await Promise.all(ports.map(isFree))).to.deep.equal(ports.map(() => true));
    const claims = given.map(claimPortOf);
    expect(ports).not.to.include.members(claims);
    expect(await Promise.all(claims.map(isFree))).to.deep.equal(claims.map(() => false));
  });
});
