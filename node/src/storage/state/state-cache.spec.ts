import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { FOUNDING } from "../../../test/index.ts";
import { openDataDirectory } from "../member/index.ts";

const MEBIBYTE = 1024 * 1024;

describe("the cache of the state", () => {
  it("is as large as it is asked for, from the founding on, and has a default", async () => {
    const directory = join(temporaryDirectory(), "data");
    const sizes: (number | null)[] = [];
    for (const stateCacheBytes of [3 * MEBIBYTE, 5 * MEBIBYTE, undefined]) {
      const opened = await openDataDirectory({
        directory,
        clusterName: "spec",
        name: "q-0",
        acceptMissingFence: false,
        stateCacheBytes,
        onFatal: (error) => {
          throw error;
        },
      });
      if (opened.phase === "refused") {
        throw new Error(opened.reason);
      }
      const data =
        opened.phase === "member"
          ? opened.data
          : await opened.found(
              { ...FOUNDING, incarnation: Buffer.from(opened.identity.incarnation, "hex") },
              { tickMs: 0, wallMs: 1 },
            );
      sizes.push(data.stateProperty("rocksdb.block-cache-capacity"));
      await data.close();
    }
    expect(sizes).to.deep.equal([3 * MEBIBYTE, 5 * MEBIBYTE, 64 * MEBIBYTE]);
  });
});
