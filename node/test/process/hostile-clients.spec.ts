/** Attacks of a few seconds on a member. `node node/test/http2/hostile.ts` makes each of them longer and larger. */
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { ATTACKS, SHORT_SCALE, Siege } from "../http2/hostile/index.ts";

const START_MS = 60_000;

/** Only Linux shows the resources of another process, and has all of 127.0.0.0/8. */
const onLinux = process.platform === "linux" ? describe : describe.skip;

onLinux("a member that is attacked while another client writes and reads", () => {
  let siege: Siege;

  before(async function () {
    this.timeout(START_MS);
    siege = await Siege.begin(temporaryDirectory());
  });

  after(() => siege?.end());

  for (const attack of ATTACKS) {
    it(`withstands ${attack.name}`, async () => {
      const { complaints } = await siege.attack(attack, SHORT_SCALE);
      expect(complaints).to.deep.equal([]);
    });
  }
});
