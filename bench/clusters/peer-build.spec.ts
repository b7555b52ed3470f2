import { expect } from "chai";
import { GoMissing } from "../../scripts/go/index.ts";
import { reasonOf } from "./peer-build.ts";

describe("a failed build of another system", () => {
  it("is explained in one line", () => {
    expect(reasonOf(new GoMissing("this machine has no Go"))).to.contain("no Go");
    const stderr = [
      "go: downloading example.org/a v1.0.0",
      "# quoin/bench/etcd",
      "",
      "main.go:8:2: module lookup disabled by GOPROXY=off",
      "main.go:9:2: another",
    ].join("\n");
    const failed = Object.assign(new Error("Command failed: go build\nand more"), { code: 1, stderr });
    expect(reasonOf(failed)).to.equal("main.go:8:2: module lookup disabled by GOPROXY=off");
    expect(reasonOf(Object.assign(new Error("killed"), { stderr: "" }))).to.equal("killed");
  });
});
