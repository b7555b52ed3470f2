import { expect } from "chai";
import { QuoinError } from "../errors/index.ts";
import { assertEndpoints, hostOf, isEndpoint, isLoopback } from "./endpoint.ts";

describe("isEndpoint", () => {
  it("accepts host:port, with an IPv6 address in brackets", () => {
    for (const text of ["localhost:7400", "127.0.0.1:1", "[::1]:65535", "member-0.quoin.default.svc:7400"]) {
      expect(isEndpoint(text), text).to.equal(true);
    }
  });

  it("refuses everything else", () => {
    const bad = ["", "host", "host:", ":7400", "host:0", "host:65536", "host:7400x", "::1:7400", "http://host:7400"];
    for (const text of [
      ...bad,
      "dns:///host:7400",
      "unix:/tmp/socket",
      "a b:1",
      "host:1\n",
      "host:-1",
      "host:123456",
    ]) {
      expect(isEndpoint(text), text).to.equal(false);
    }
  });
});

describe("hostOf", () => {
  it("is the part before the port, without brackets", () => {
    expect(["demo:7400", "127.0.0.1:1", "[::1]:7400"].map(hostOf)).to.deep.equal(["demo", "127.0.0.1", "::1"]);
  });
});

describe("isLoopback", () => {
  it("knows this machine by its reserved names and addresses", () => {
    for (const host of ["localhost", "127.0.0.1", "127.1.2.3", "::1"]) {
      expect(isLoopback(host), host).to.equal(true);
    }
    for (const host of ["127.example.com", "10.0.0.1", "demo", "::2"]) {
      expect(isLoopback(host), host).to.equal(false);
    }
  });
});

describe("assertEndpoints", () => {
  it("refuses an empty list and a bad endpoint, with the field's name", () => {
    expect(() => assertEndpoints("endpoints", [])).to.throw(QuoinError, "endpoints must name at least one host:port");
    expect(() => assertEndpoints("endpoints", ["a:1", "b"])).to.throw(
      QuoinError,
      'endpoints must be host:port, not "b"',
    );
    assertEndpoints("endpoints", ["a:1", "b:2"]);
  });
});
