import { expect } from "chai";
import { SNAPSHOTS_MAX, untilTogether } from "./until-together.ts";

/** Each wait may take this many turns. */
const TURNS = 10;

describe("a wait for members that need snapshots", () => {
  let turn: number;

  beforeEach(() => {
    turn = 0;
  });

  async function until(isReached: () => boolean): Promise<void> {
    for (let end = turn + TURNS; !isReached(); turn++) {
      if (turn === end) {
        throw new Error("too late");
      }
    }
  }

  async function failureOf(wait: Promise<void>): Promise<string> {
    return wait.then(
      () => "",
      (error: Error) => error.message,
    );
  }

  it("ends as soon as they are together", async () => {
    await untilTogether({ until, isTogether: () => turn >= 7, installs: () => 0 });
    expect(turn).to.equal(7);
  });

  it("fails after the limit of one wait where no member takes a snapshot over", async () => {
    const wait = untilTogether({ until, isTogether: () => false, installs: () => 3 });
    expect([await failureOf(wait), turn]).to.deep.equal(["too late", TURNS]);
  });

  it("begins the limit again with each snapshot that a member takes over", async () => {
    await untilTogether({ until, isTogether: () => turn >= 45, installs: () => Math.floor(turn / 9) });
    expect(turn).to.equal(45);
    const wait = untilTogether({ until, isTogether: () => false, installs: () => Math.min(turn, 50) });
    expect([await failureOf(wait), turn], "after the last one").to.deep.equal(["too late", 50 + TURNS]);
  });

  it("allows for a bounded number of snapshots", async () => {
    const wait = untilTogether({ until, isTogether: () => false, installs: () => turn });
    expect([await failureOf(wait), turn]).to.deep.equal(["too late", SNAPSHOTS_MAX + TURNS]);
  });
});
