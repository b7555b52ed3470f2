import { expect } from "chai";
import fc from "fast-check";
import { areGoodTrailers, RequestFields, UNDECLARED } from "./request-fields.ts";

const TARGET = [":method", "POST", ":scheme", "http", ":path", "/a/b", ":authority", "quoin.test:7400"];

function isGood(...fields: readonly string[]): boolean {
  return new RequestFields().areGood(fields);
}

/** The target with other values; a null value removes the field. */
function target(changes: Readonly<Record<string, string | null>>): readonly string[] {
  const fields: string[] = [];
  for (let at = 0; at < TARGET.length; at += 2) {
    const value =
      changes[TARGET[at] as string] ?? ((TARGET[at] as string) in changes ? null : (TARGET[at + 1] as string));
    if (value !== null) {
      fields.push(TARGET[at] as string, value);
    }
  }
  return fields;
}

describe("the fields of a request", () => {
  const good: Readonly<Record<string, readonly string[]>> = {
    "a target": TARGET,
    "no authority": target({ ":authority": null }),
    "an empty authority": target({ ":authority": "" }),
    "the asterisk of OPTIONS": target({ ":path": "*", ":method": "OPTIONS" }),
    CONNECT: target({ ":method": "CONNECT", ":path": null, ":scheme": null }),
    "te that is trailers": [...TARGET, "te", "trailers"],
    "an empty value": [...TARGET, "x", ""],
    "white space within a value": [...TARGET, "x", "a b\tc"],
    "a space before a value": [...TARGET, "x", " a"],
    "a tab after a value": [...TARGET, "x", "a\t"],
    "bytes above ASCII in a value": [...TARGET, "x", "\xe9\xff"],
    "every character of a name": [...TARGET, "!#$%&'*+-.^_`|~09az", "1"],
    "the same host": [...TARGET, "host", "QUOIN.test:7400"],
    "a host without authority": [...target({ ":authority": null }), "host", "other"],
    "a content-length": [...TARGET, "content-length", "0012"],
    "the same content-length twice": [...TARGET, "content-length", "3", "content-length", "3"],
  };
  for (const [title, fields] of Object.entries(good)) {
    it(`may be ${title}`, () => {
      expect(isGood(...fields)).to.equal(true);
    });
  }

  const bad: Readonly<Record<string, readonly string[]>> = {
    nothing: [],
    "no method": target({ ":method": null }),
    "an empty method": target({ ":method": "" }),
    "no scheme": target({ ":scheme": null }),
    "an empty scheme": target({ ":scheme": "" }),
    "no path": target({ ":path": null }),
    "an empty path": target({ ":path": "" }),
    "a path without a slash": target({ ":path": "a" }),
    "the asterisk of another method": target({ ":path": "*" }),
    "CONNECT with a path": target({ ":method": "CONNECT", ":scheme": null }),
    "CONNECT with a scheme": target({ ":method": "CONNECT", ":path": null }),
    "CONNECT without authority": target({ ":method": "CONNECT", ":path": null, ":scheme": null, ":authority": null }),
    "an unknown pseudo-header field": [...TARGET, ":protocol", "websocket"],
    "that of an answer": [...TARGET, ":status", "200"],
    "a pseudo-header field twice": [...TARGET, ":path", "/a/b"],
    "one after another field": [...TARGET.slice(0, 6), "x", "1", ":authority", "a"],
    "a line feed in a path": target({ ":path": "/\n" }),
    "white space around an authority": target({ ":authority": " a" }),
    "white space behind a path": target({ ":path": "/a " }),
    "an empty name": [...TARGET, "", "1"],
    "a capital in a name": [...TARGET, "X", "1"],
    "a space in a name": [...TARGET, "x y", "1"],
    "a colon in a name": [...TARGET, "x:y", "1"],
    "a byte above ASCII in a name": [...TARGET, "x\xe9", "1"],
    "DEL in a name": [...TARGET, "x\x7f", "1"],
    "NUL in a value": [...TARGET, "x", "a\0b"],
    "a line feed in a value": [...TARGET, "x", "a\nb"],
    "a carriage return in a value": [...TARGET, "x", "a\rb"],
    connection: [...TARGET, "connection", "close"],
    "keep-alive": [...TARGET, "keep-alive", "1"],
    "proxy-connection": [...TARGET, "proxy-connection", "close"],
    "transfer-encoding": [...TARGET, "transfer-encoding", "chunked"],
    upgrade: [...TARGET, "upgrade", "h2c"],
    "te that is more than trailers": [...TARGET, "te", "trailers, deflate"],
    "another host": [...TARGET, "host", "other"],
    "two hosts without authority": [...target({ ":authority": null }), "host", "a", "host", "b"],
    "a content-length that is no number": [...TARGET, "content-length", "1a"],
    "an empty content-length": [...TARGET, "content-length", ""],
    "a content-length with a sign": [...TARGET, "content-length", "+1"],
    "a content-length beyond exact numbers": [...TARGET, "content-length", "1".repeat(16)],
    "two content-lengths": [...TARGET, "content-length", "3", "content-length", "4"],
  };
  for (const [title, fields] of Object.entries(bad)) {
    it(`must not be ${title}`, () => {
      expect(isGood(...fields)).to.equal(false);
      const afterGoodOnes = new RequestFields();
      expect(afterGoodOnes.areGood(TARGET)).to.equal(true);
      expect(afterGoodOnes.areGood(fields)).to.equal(false);
    });
  }

  it("are checked independently of earlier requests", () => {
    const path = fc.constantFrom("/a", "/a/b", "*", "a", "", "/\n");
    const method = fc.constantFrom("POST", "GET", "OPTIONS", "CONNECT");
    const name = fc.constantFrom("te", "host", "content-length", "x", "user-agent", "upgrade", "X", ":path");
    const value = fc.constantFrom("trailers", "a", "b", "1", "2", "x y", "\n", " a", "");
    const requests = fc.array(
      fc
        .tuple(method, path, fc.boolean(), fc.array(fc.tuple(name, value), { maxLength: 3 }))
        .map(([ofMethod, ofPath, hasAuthority, others]) => [
          ...[":method", ofMethod, ":scheme", "http", ":path", ofPath],
          ...(hasAuthority ? [":authority", "a"] : []),
          ...others.flat(),
        ]),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(requests, (all) => {
        const used = new RequestFields();
        for (const fields of all) {
          const fresh = new RequestFields();
          expect(used.areGood(fields), JSON.stringify(fields)).to.equal(fresh.areGood(fields));
          if (fresh.areGood(fields)) {
            expect(used.declaredBytes).to.equal(fresh.declaredBytes);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("declare a length or none", () => {
    const fields = new RequestFields();
    fields.areGood([...TARGET, "content-length", "12"]);
    expect(fields.declaredBytes).to.equal(12);
    fields.areGood(TARGET);
    expect(fields.declaredBytes).to.equal(UNDECLARED);
  });
});

describe("trailers", () => {
  it("may be any fields except those of a target or a connection", () => {
    expect(areGoodTrailers([])).to.equal(true);
    expect(areGoodTrailers(["a", "1", "b", ""])).to.equal(true);
    expect(areGoodTrailers(["a", "1", ":path", "/"])).to.equal(false);
    expect(areGoodTrailers(["connection", "close"])).to.equal(false);
    expect(areGoodTrailers(["A", "1"])).to.equal(false);
    expect(areGoodTrailers(["a", "1\n"])).to.equal(false);
  });
});
