import { expect } from "chai";
import { canonicalAddress, TrustedProxies } from "./trusted-proxies.ts";

describe("TrustedProxies", () => {
  const proxies = new TrustedProxies(["10.0.0.0/8", "192.0.2.1", "2001:db8:1::/48", "fd00::1"]);

  it("are the addresses and networks that were named, in any notation", () => {
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "192.0.2.1", "2001:db8:1:ffff::7", "FD00:0::1"]) {
      expect(proxies.includes(address), address).equal(true);
    }
    for (const address of ["11.0.0.1", "192.0.2.2", "2001:db8:2::1", "fd00::2", "", "10.1.2", "10.0.0.0/8", "proxy"]) {
      expect(proxies.includes(address), address).equal(false);
    }
    expect(new TrustedProxies([]).includes("127.0.0.1")).equal(false);
  });

  it("refuse anything but an address or a network, and name it", () => {
    for (const network of [
      "",
      "10.0.0.0/33",
      "::/129",
      "10.0.0/8",
      "proxy",
      "10.0.0.0/-1",
      "10.0.0.0/8/8",
      "fe80::1%eth0",
    ]) {
      expect(() => new TrustedProxies(["10.0.0.0/8", network]), network).throw(JSON.stringify(network));
    }
  });

  for (const [what, peer, lines, client] of [
    ["a client that connects itself, whatever it says", "198.51.100.7", ["203.0.113.9"], "198.51.100.7"],
    ["a proxy that says nothing", "10.0.0.1", [], "10.0.0.1"],
    ["one proxy", "10.0.0.1", ["198.51.100.7"], "198.51.100.7"],
    ["one proxy, with what the client made up before it", "10.0.0.1", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"],
    ["two proxies", "10.0.0.1", ["203.0.113.9, 198.51.100.7, 192.0.2.1"], "198.51.100.7"],
    ["several lines, which are one list", "10.0.0.1", ["203.0.113.9", "198.51.100.7,192.0.2.1"], "198.51.100.7"],
    [
      "several lines, the last one trusted in whole",
      "10.0.0.1",
      ["198.51.100.7", "192.0.2.1,10.9.9.9"],
      "198.51.100.7",
    ],
    ["only proxies", "10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"],
    ["a proxy in IPv6 notation", "::ffff:10.0.0.1", ["198.51.100.7"], "198.51.100.7"],
    ["a client in IPv6 notation", "10.0.0.1", ["::ffff:198.51.100.7"], "198.51.100.7"],
    ["a client in IPv6 notation of another kind", "10.0.0.1", ["::ffff:c633:6407"], "198.51.100.7"],
    ["a client of IPv6", "10.0.0.1", ["2001:DB8:0::7"], "2001:db8::7"],
    ["an entry with a port", "10.0.0.1", ["198.51.100.7:4711"], "198.51.100.7"],
    ["an entry of IPv6 with a port", "10.0.0.1", ["[2001:db8::7]:4711"], "2001:db8::7"],
    ["an entry in brackets", "10.0.0.1", ["[2001:db8::7]"], "2001:db8::7"],
    ["a word instead of an address", "10.0.0.1", ["203.0.113.9, unknown"], "10.0.0.1"],
    ["a word between proxies", "10.0.0.1", ["203.0.113.9, secret, 192.0.2.1"], "192.0.2.1"],
    ["an empty entry", "10.0.0.1", ["203.0.113.9,"], "10.0.0.1"],
    ["an empty line", "10.0.0.1", [""], "10.0.0.1"],
    ["commas alone", "10.0.0.1", [",,,"], "10.0.0.1"],
    ["a zone, which means nothing elsewhere", "10.0.0.1", ["fe80::1%eth0"], "10.0.0.1"],
    ["a number out of range", "10.0.0.1", ["198.51.100.256"], "10.0.0.1"],
    ["many entries", "10.0.0.1", [`198.51.100.7${", 10.0.0.2".repeat(1_000)}`], "198.51.100.7"],
  ] as const) {
    it(`find the client behind ${what}`, () => {
      expect(proxies.clientAddress(peer, lines)).equal(client);
    });
  }

  it("have one canonical text for each address", () => {
    expect(canonicalAddress("2001:0DB8:0:0:0:0:0:7")).equal("2001:db8::7");
    expect(canonicalAddress("0:0:0:0:0:ffff:c633:6407")).equal("198.51.100.7");
    expect(["", "x", "1.2.3", "fe80::1%eth0", "::1 "].map(canonicalAddress)).deep.equal(Array(5).fill(null));
  });
});
