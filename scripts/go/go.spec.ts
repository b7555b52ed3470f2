import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { buildGoTool, GoMissing } from "./index.ts";

describe("a program in Go", () => {
  const searchPath = process.env.PATH;
  let module: string;

  beforeEach(() => {
    module = temporaryDirectory();
    writeFileSync(path.join(module, "go.mod"), `module quoin/${path.basename(module)}\n`);
  });

  afterEach(() => {
    process.env.PATH = searchPath;
  });

  for (const needsC of [false, true]) {
    it(`is not built on a machine without Go, ${needsC ? "with" : "without"} parts in C`, async () => {
      process.env.PATH = module;
      let announced = 0;
      const onBuild = () => void announced++;
      const error = await buildGoTool({ name: "test", module, needsC, onBuild }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(GoMissing);
      expect((error as Error).message).to.contain("no Go");
      expect(announced).to.equal(1);
    });
  }
});
