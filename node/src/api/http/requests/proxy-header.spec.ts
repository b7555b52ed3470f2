import { expect } from "chai";
import fc from "fast-check";
import { parseProxyHeader } from "./proxy-header.ts";

const SIGNATURE = Buffer.from("0d0a0d0a000d0a515549540a", "hex");
const IPV4 = Buffer.from("c6336407c00002010fa01f90", "hex");
const IPV6 = Buffer.concat([
  Buffer.from("20010db8000000000000000000000007", "hex"),
  Buffer.from("20010db8000000000000000000000001", "hex"),
  Buffer.from("0fa01f90", "hex"),
]);
const EXTENSION = Buffer.from("0300040a0b0c0d", "hex");

function v2(command: number, family: number, rest: Buffer, length = rest.length): Buffer {
  const fixed = Buffer.from([command, family, length >> 8, length & 0xff]);
  return Buffer.concat([SIGNATURE, fixed, rest]);
}

describe("parseProxyHeader", () => {
  for (const [what, header, address] of [
    ["version 1 of IPv4", Buffer.from("PROXY TCP4 198.51.100.7 192.0.2.1 4000 8080\r\n"), "198.51.100.7"],
    ["version 1 of IPv6", Buffer.from("PROXY TCP6 2001:db8::7 2001:db8::1 4000 8080\r\n"), "2001:db8::7"],
    ["version 1 of an unknown source", Buffer.from("PROXY UNKNOWN\r\n"), null],
    ["version 1 of an unknown source, with addresses", Buffer.from("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), null],
    ["version 2 of IPv4", v2(0x21, 0x11, IPV4), "198.51.100.7"],
    ["version 2 of IPv4, with extensions", v2(0x21, 0x11, Buffer.concat([IPV4, EXTENSION])), "198.51.100.7"],
    ["version 2 of IPv6", v2(0x21, 0x21, IPV6), "2001:db8:0:0:0:0:0:7"],
    ["version 2 of the proxy itself", v2(0x20, 0x00, Buffer.alloc(0)), null],
    ["version 2 of the proxy itself, with addresses", v2(0x20, 0x11, IPV4), null],
    ["version 2 of an unknown family", v2(0x21, 0x00, EXTENSION), null],
    ["version 2 of a socket in the file system", v2(0x21, 0x31, Buffer.alloc(216, 0x2f)), null],
  ] as const) {
    it(`reads ${what}, and nothing after it`, () => {
      const complete = { kind: "complete", bytes: header.length, address };
      expect(parseProxyHeader(header)).deep.equal(complete);
      expect(parseProxyHeader(Buffer.concat([header, Buffer.from("GET / HTTP/1.1\r\n")]))).deep.equal(complete);
    });

    it(`waits for the rest of ${what}`, () => {
      for (let length = 0; length < header.length; length++) {
        expect(parseProxyHeader(header.subarray(0, length)), `${length} bytes`).deep.equal({ kind: "incomplete" });
      }
    });
  }

  for (const [what, bytes] of [
    ["HTTP", "GET / HTTP/1.1\r\n"],
    ["TLS", "\x16\x03\x01\x02\x00"],
    ["the word in small letters", "proxy TCP4 198.51.100.7 192.0.2.1 4000 8080\r\n"],
    ["UDP", "PROXY UDP4 198.51.100.7 192.0.2.1 4000 8080\r\n"],
    ["an address of the other family", "PROXY TCP4 2001:db8::7 192.0.2.1 4000 8080\r\n"],
    ["another address of the other family", "PROXY TCP6 2001:db8::7 192.0.2.1 4000 8080\r\n"],
    ["no address", "PROXY TCP4 proxy 192.0.2.1 4000 8080\r\n"],
    ["a zone", "PROXY TCP6 fe80::1%eth0 fe80::2 4000 8080\r\n"],
    ["a port out of range", "PROXY TCP4 198.51.100.7 192.0.2.1 65536 8080\r\n"],
    ["a port with zeros before it", "PROXY TCP4 198.51.100.7 192.0.2.1 04000 8080\r\n"],
    ["a missing port", "PROXY TCP4 198.51.100.7 192.0.2.1 4000\r\n"],
    ["a port too many", "PROXY TCP4 198.51.100.7 192.0.2.1 4000 8080 1\r\n"],
    ["two spaces", "PROXY TCP4  198.51.100.7 192.0.2.1 4000 8080\r\n"],
    ["a line without its first half of an end", "PROXY TCP4 198.51.100.7 192.0.2.1 4000 8080\nGET / HTTP/1.1\r\n"],
    ["a line that does not end", `PROXY UNKNOWN ${"x".repeat(200)}`],
    ["a line that ends too late", `PROXY UNKNOWN ${"x".repeat(100)}\r\n`],
    ["version 3", Buffer.concat([SIGNATURE, Buffer.from("31110000", "hex")])],
    ["an unknown command", v2(0x22, 0x11, IPV4)],
    ["UDP in version 2", v2(0x21, 0x12, IPV4)],
    ["addresses that are too short", v2(0x21, 0x11, IPV4.subarray(1))],
    ["addresses of IPv6 that are too short", v2(0x21, 0x21, IPV4)],
    ["a length beyond all reason", v2(0x21, 0x11, IPV4, 0xffff)],
  ] as const) {
    it(`refuses ${what}`, () => {
      const given = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
      expect(parseProxyHeader(given)).deep.equal({ kind: "invalid" });
    });
  }

  it("takes any bytes, and never waits for more after thousands of bytes", () => {
    const begins = [Buffer.alloc(0), Buffer.from("PROXY "), SIGNATURE, v2(0x21, 0x11, Buffer.alloc(0), 12)];
    fc.assert(
      fc.property(fc.constantFrom(...begins), fc.uint8Array({ maxLength: 300 }), (begin, rest) => {
        const bytes = Buffer.concat([begin, rest]);
        const header = parseProxyHeader(bytes);
        if (header.kind === "complete") {
          expect(header.bytes).within(15, bytes.length);
        }
        const filled = parseProxyHeader(Buffer.concat([bytes, Buffer.alloc(5_000)]));
        expect(filled.kind).not.equal("incomplete");
      }),
    );
  });
});
