import { hostname, userInfo } from "node:os";
import { expect } from "chai";
import { holderLabel } from "./holder-label.ts";

describe("holderLabel", () => {
  it("names the user, the host and the process, and is never the same twice", () => {
    const label = holderLabel();
    expect(label.startsWith(`${userInfo().username}@${hostname()}:${process.pid}-`)).to.equal(true);
    expect(label).to.match(/-[0-9a-f]{12}$/);
    const labels = Array.from({ length: 100 }, () => holderLabel("root", "pod", 1));
    expect(new Set(labels).size).to.equal(labels.length);
  });

  it("has at most 256 bytes, all printable", () => {
    const label = holderLabel("ü\u001b \u{1f600}".repeat(100), "h".repeat(300), 4_194_304);
    expect(label).to.match(/^[\x21-\x7e]{1,256}$/);
    expect(label).to.match(/^____.*@h+:4194304-[0-9a-f]{12}$/);
  });
});
