import { expect } from "chai";
import fc from "fast-check";
import { KnownPaths } from "./known-paths.ts";

describe("repeated paths", () => {
  it("are found only by all of their bytes", () => {
    const literal = fc.uint8Array({ min: 1, max: 3, minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(literal, { maxLength: 60, size: "max" }), (literals) => {
        const paths = new KnownPaths();
        for (const each of literals) {
          const block = Uint8Array.of(9, ...each, 9);
          const path = [...each].join();
          expect(paths.at(block, 1, block.length - 1)).to.be.oneOf([path, undefined]);
          paths.remember(block, 1, block.length - 1, path);
          expect(paths.at(block, 1, block.length - 1)).to.equal(path);
        }
      }),
    );
  });

  it("do not change with their block, even if it is a Buffer", () => {
    for (const block of [Uint8Array.of(1, 2, 3), Buffer.of(1, 2, 3)]) {
      const paths = new KnownPaths();
      paths.remember(block, 0, 3, "path");
      block[0] = 2;
      expect(paths.at(block, 0, 3)).to.equal(undefined);
      expect(paths.at(Uint8Array.of(1, 2, 3), 0, 3)).to.equal("path");
    }
  });

  it("are cached up to 128 bytes", () => {
    const paths = new KnownPaths();
    for (const length of [128, 129]) {
      const block = new Uint8Array(length);
      paths.remember(block, 0, length, "path");
      expect(paths.at(block, 0, length)).to.equal(length === 128 ? "path" : undefined);
    }
  });
});
