import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { plainStatus } from "../calls/index.ts";
import { RESPONSE_FIELDS, statusFields } from "./answer-fields.ts";

/** Returns the field grpc-message of a status with this message. */
function encoded(message: string): string | undefined {
  const fields = statusFields(plainStatus(status.ABORTED, message), false);
  return fields[fields.indexOf("grpc-message") + 1];
}

describe("the fields of an answer", () => {
  it("percent-encode the message: the percent sign, and everything except printable ASCII", () => {
    expect(encoded("expected 3, found ~5")).to.equal("expected 3, found ~5");
    expect(encoded("100 %")).to.equal("100 %25");
    expect(encoded("a\r\nb\u007f")).to.equal("a%0D%0Ab%7F");
    expect(encoded("für 😀")).to.equal("f%C3%BCr %F0%9F%98%80");
    expect(decodeURIComponent(encoded("%zz \u0000 é") ?? "")).to.equal("%zz \u0000 é");
  });

  it("leave an empty message out", () => {
    expect(statusFields(plainStatus(status.OK, ""), false)).to.deep.equal(["grpc-status", "0"]);
  });

  it("are the whole answer if nothing was sent before", () => {
    const fields = statusFields(plainStatus(status.ABORTED, "m", ["error-reason", "FENCED"]), true);
    expect(fields).to.deep.equal([
      ...[":status", "200", "content-type", "application/grpc", "grpc-status", "10", "grpc-message", "m"],
      ...["error-reason", "FENCED"],
    ]);
  });

  it("contain base64 without padding", () => {
    const fields = statusFields(plainStatus(status.ABORTED, "", ["details-bin", "YQ=="]), false);
    expect(fields.at(-1)).to.equal("YQ");
  });

  it("are encoded once, and mark replays", () => {
    expect(Object.values(RESPONSE_FIELDS).every(Object.isFrozen)).to.equal(true);
    expect(RESPONSE_FIELDS.no).not.to.include("replayed");
    expect(RESPONSE_FIELDS.yes.slice(-2)).to.deep.equal(["replayed", "true"]);
  });
});
