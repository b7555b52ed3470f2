import { expect } from "chai";
import { parseHostPort } from "./host-port.ts";

describe("parseHostPort", () => {
  const right: readonly (readonly [string, string, number])[] = [
    ["demo-0.demo-peers:7402", "demo-0.demo-peers", 7402],
    ["127.0.0.1:1", "127.0.0.1", 1],
    ["[::1]:65535", "::1", 65_535],
  ];
  for (const [text, host, port] of right) {
    it(`reads ${text}`, () => expect(parseHostPort(text)).to.deep.equal({ host, port }));
  }

  for (const text of ["", "host", ":7402", "host:", "host:0", "host:65536", "host:x", "host:1e3", "::1:7402", "[]:1"]) {
    it(`refuses "${text}"`, () => expect(parseHostPort(text)).to.equal(null));
  }
});
