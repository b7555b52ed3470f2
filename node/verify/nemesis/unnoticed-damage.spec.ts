import { expect } from "chai";
import { ClusterUnderTest } from "../../test/harness/index.ts";
import { UnnoticedDamage } from "./unnoticed-damage.ts";

describe("damage that a member has not noticed", () => {
  let cluster: ClusterUnderTest | undefined;
  after(() => cluster?.dispose());

  it("is gone from all other members before one more loses its data", async () => {
    const tried = await ClusterUnderTest.start(3);
    cluster = tried;
    const idOf = async (name: string) => (await tried.member(name).status())?.id;
    const former = await Promise.all(["q-0", "q-1"].map(idOf));
    const damage = new UnnoticedDamage();
    damage.note("q-0");
    damage.note("q-1");
    damage.note("gone");
    // It ends when it notices.
    await tried.member("q-0").kill();
    await damage.replaceOthers(tried, "q-1");
    const [replaced, kept] = await Promise.all(["q-0", "q-1"].map(idOf));
    expect(replaced).to.not.be.oneOf([undefined, former[0]]);
    expect(kept).to.equal(former[1]);
    await damage.replaceOthers(tried, "q-1");
    expect(await idOf("q-0"), "no second time").to.equal(replaced);
    await damage.replaceOthers(tried, "q-2");
    expect(await idOf("q-1"), "before another member").to.not.be.oneOf([undefined, kept]);
  });
});
