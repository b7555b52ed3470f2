import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { refuseMissingFiles } from "./missing-files.ts";

describe("refuseMissingFiles", () => {
  let directory: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    writeFileSync(path.join(directory, "thread.js"), 'new URL("../package.json",import.meta.url);');
    writeFileSync(
      path.join(directory, "member.js"),
      'new Worker(new URL("./thread.js",import.meta.url));read(new URL("texts.json", import.meta.url));',
    );
  });

  it("names the program and the file that it would not find", () => {
    expect(() => refuseMissingFiles(directory)).to.throw("member.js reads texts.json, which is not in the bundle");
  });

  it("accepts programs that find all their files, and a package.json above them", () => {
    writeFileSync(path.join(directory, "texts.json"), "{}");
    refuseMissingFiles(directory);
  });
});
