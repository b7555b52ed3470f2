import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../test/harness/index.ts";
import { JoinTokenFile, JoinTokenFileError } from "./join-token-file.ts";

describe("JoinTokenFile", () => {
  let path: string;
  let lines: string[];

  beforeEach(() => {
    path = join(temporaryDirectory(), "join-tokens");
    lines = [];
  });

  function open(): JoinTokenFile {
    return new JoinTokenFile(path, {
      warn: (fields, message) => lines.push(`${message} ${JSON.stringify(fields)}`),
    });
  }

  it("has the lines of the file, the first first, without blank ones and space around them", () => {
    writeFileSync(path, "new token\n\n  old token \r\n");
    expect(open().tokens).to.deep.equal(["new token", "old token"]);
  });

  it("follows the file when it is written or replaced", () => {
    writeFileSync(path, "one");
    const file = open();
    writeFileSync(path, "one\ntwo");
    expect(file.tokens).to.deep.equal(["one", "two"]);
    writeFileSync(`${path}.new`, "two\nsix");
    renameSync(`${path}.new`, path);
    expect(file.tokens).to.deep.equal(["two", "six"]);
  });

  it("keeps its tokens while the file is gone or empty, and logs each problem once", () => {
    writeFileSync(path, "the secret");
    const file = open();
    rmSync(path);
    expect([file.tokens, file.tokens]).to.deep.equal([["the secret"], ["the secret"]]);
    expect(lines).to.have.length(1);
    expect(file.problem).to.include(path);
    writeFileSync(path, "\n");
    expect(file.tokens).to.deep.equal(["the secret"]);
    expect(lines).to.have.length(2);
    writeFileSync(path, "another");
    expect([file.tokens, file.problem]).to.deep.equal([["another"], null]);
    expect(lines.join()).to.not.include("secret");
  });

  it("is refused at the start without a file, or without a token in it", () => {
    expect(open).to.throw(JoinTokenFileError, path);
    writeFileSync(path, " \n");
    expect(open).to.throw(JoinTokenFileError, "contains no join token");
  });
});
