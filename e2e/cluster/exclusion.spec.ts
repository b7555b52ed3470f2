import { join } from "node:path";
import { expect } from "chai";
import { succeeds, temporaryDirectory } from "../../testing/index.ts";
import { exclusively } from "./exclusion.ts";

describe("exclusively", () => {
  let directory = "";

  before(async function () {
    if (!(await succeeds("flock", ["--version"]))) {
      this.skip();
    }
    directory = temporaryDirectory();
  });

  it("keeps others out while it works, and lets them in afterwards, also when the work failed", async () => {
    const file = join(directory, "below", "lock");
    const isFree = (): Promise<boolean> => succeeds("flock", ["--nonblock", file, "true"]);
    expect(await exclusively(file, isFree)).to.equal(false);
    const failure = new Error("as it must");
    let thrown: unknown;
    try {
      await exclusively(file, () => Promise.reject(failure));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).to.equal(failure);
    expect(await isFree()).to.equal(true);
    expect(await exclusively(file, isFree)).to.equal(false);
  });
});
