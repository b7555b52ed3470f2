import { expect } from "chai";
import fc from "fast-check";
import { anyText } from "../testing/random/index.ts";
import { decodeStatusDetails, ERROR_DOMAIN, encodeStatusDetails, MalformedMessageError } from "./index.ts";

const text = anyText;

/** Packs a message as a google.protobuf.Any by hand: short lengths only. */
function any(typeName: string, value: Buffer): Buffer {
  const url = Buffer.from(`type.googleapis.com/${typeName}`);
  return Buffer.concat([Buffer.of(0x0a, url.length), url, Buffer.of(0x12, value.length), value]);
}

function status(...details: Buffer[]): Buffer {
  return Buffer.concat(details.flatMap((detail) => [Buffer.of(0x1a, detail.length), detail]));
}

describe("status details", () => {
  it("come back as they were", () => {
    fc.assert(
      fc.property(
        fc.record({
          code: fc.integer({ min: 0, max: 16 }),
          message: text(),
          reason: text(),
          domain: text(),
          metadata: fc.array(fc.tuple(text(), text()), { maxLength: 5 }).map((entries) => new Map(entries)),
          retryDelayMs: fc.option(fc.nat({ max: 86_400_000 }), { nil: undefined }),
        }),
        (details) => {
          expect(decodeStatusDetails(encodeStatusDetails(details))).to.deep.equal(details);
        },
      ),
    );
  });

  it("have the domain of this service, and no metadata or delay, unless given", () => {
    const details = { code: 5, message: "no such key", reason: "KEY_NOT_FOUND" };
    expect(decodeStatusDetails(encodeStatusDetails(details))).to.deep.equal({
      ...details,
      domain: ERROR_DOMAIN,
      metadata: new Map(),
      retryDelayMs: undefined,
    });
  });

  it("are the bytes that other gRPC libraries read", () => {
    const info = Buffer.concat([
      Buffer.of(0x0a, 6),
      Buffer.from("FENCED"),
      Buffer.of(0x12, 9),
      Buffer.from("quoin.dev"),
      Buffer.from("1a060a016b120176", "hex"), // metadata: k = v
    ]);
    const retry = Buffer.from("0a0808011080cab5ee01", "hex"); // retry_delay: 1 s and 500,000,000 ns
    const expected = Buffer.concat([
      Buffer.from("080a", "hex"), // code 10
      Buffer.of(0x12, 2),
      Buffer.from("no"),
      status(any("google.rpc.ErrorInfo", info), any("google.rpc.RetryInfo", retry)),
    ]);
    const metadata = new Map([["k", "v"]]);
    const encoded = encodeStatusDetails({ code: 10, message: "no", reason: "FENCED", metadata, retryDelayMs: 1_500 });
    expect(encoded.toString("hex")).to.equal(expected.toString("hex"));
  });

  it("round a delay up, so that a retry is never early", () => {
    const encoded = encodeStatusDetails({ code: 14, message: "", reason: "NO_LEADER", retryDelayMs: 0.25 });
    expect(decodeStatusDetails(encoded).retryDelayMs).to.equal(1);
    const nanosecond = status(any("google.rpc.RetryInfo", Buffer.from("0a021001", "hex")));
    expect(decodeStatusDetails(nanosecond).retryDelayMs).to.equal(1);
  });

  it("of other services are read as far as they are known", () => {
    const foreign = status(any("google.rpc.DebugInfo", Buffer.from("0a0161", "hex")));
    expect(decodeStatusDetails(foreign)).to.deep.equal({
      code: 0,
      message: "",
      reason: "",
      domain: "",
      metadata: new Map(),
      retryDelayMs: undefined,
    });
  });

  it("that are malformed are an error, also within a detail", () => {
    expect(() => decodeStatusDetails(Buffer.from("1a05", "hex"))).to.throw(MalformedMessageError);
    const cut = status(any("google.rpc.ErrorInfo", Buffer.from("0a05", "hex")));
    expect(() => decodeStatusDetails(cut)).to.throw(MalformedMessageError, "field reason is cut off or malformed");
  });
});
