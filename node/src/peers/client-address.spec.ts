import { expect } from "chai";
import { clientOf } from "./client-address.ts";

describe("the client of an address", () => {
  for (const [address, client] of [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2:ffff::9", "2001:db8:1:2"],
    ["2001:db8::9", "2001:db8:0:0"],
    ["2001:db8::2:3:4:5:6", "2001:db8:0:2"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["2001:0DB8::9", "2001:db8:0:0"],
    ["", ""],
  ] as const) {
    it(`"${address}" is "${client}"`, () => {
      expect(clientOf(address)).to.equal(client);
    });
  }
});
