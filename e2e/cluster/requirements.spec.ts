import { expect } from "chai";
import { parseGoVersion } from "./requirements.ts";

describe("parseGoVersion", () => {
  it("reads releases, candidates, and versions with something behind them", () => {
    expect(parseGoVersion("go version go1.24.0 linux/amd64\n")).to.deep.equal({ major: 1, minor: 24 });
    expect(parseGoVersion("go version go1.26rc1 linux/arm64")).to.deep.equal({ major: 1, minor: 26 });
    expect(parseGoVersion("go version go1.19.8 X:boringcrypto linux/amd64")).to.deep.equal({ major: 1, minor: 19 });
  });

  it("finds none where there is none", () => {
    expect(parseGoVersion("go version devel +abcdef linux/amd64")).to.equal(null);
    expect(parseGoVersion("")).to.equal(null);
  });
});
