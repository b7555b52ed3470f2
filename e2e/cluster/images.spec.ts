import { expect } from "chai";
import { findDebianMirror } from "./images.ts";

describe("findDebianMirror", () => {
  it("reads both forms of apt's lists, and takes the archive, not that of security updates", () => {
    const paragraphs = `Types: deb
URIs: https://mirror.example/debian-security
Suites: bookworm-security

Types: deb
URIs: https://mirror.example/debian
Suites: bookworm
`;
    const lines = `# deb http://old.example/debian bookworm main
deb [signed-by=/usr/share/keyrings/key.gpg] http://mirror.example/debian/ bookworm main
deb http://other.example/debian bookworm main
`;
    expect(findDebianMirror(paragraphs)).to.equal("https://mirror.example/debian");
    expect(findDebianMirror(lines)).to.equal("http://mirror.example/debian/");
  });

  it("finds none in the lists of another system", () => {
    expect(findDebianMirror("deb http://archive.example/ubuntu noble main\n")).to.equal(null);
    expect(findDebianMirror("")).to.equal(null);
  });
});
