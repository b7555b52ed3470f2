import { expect } from "chai";
import { isFree, MEMBERS_MAX, portsOf } from "../../local/index.ts";
import { claimedBasePort, claimPortOf, stablePorts } from "./stable-ports.ts";

describe("ports of the members of a test", () => {
  it("are free, and claimed for as long as this process lives, also while their member is down", async () => {
    const single = await Promise.all(Array.from({ length: 20 }, stablePorts));
    const bases = await Promise.all([claimedBasePort(), claimedBasePort()]);
    const launched = bases.flatMap((base) => Array.from({ length: MEMBERS_MAX }, (_, at) => portsOf(base, at)));
    const members = [...single, ...launched];
    const ports = members.flatMap((each) => Object.values(each));
    const claims = members.map(claimPortOf);
    expect(new Set([...ports, ...claims]).size).to.equal(ports.length + claims.length);
    expect(await Promise.all(ports.map(isFree))).to.deep.equal(ports.map(() => true));
    expect(await Promise.all(claims.map(isFree))).to.deep.equal(claims.map(() => false));
  });
});
