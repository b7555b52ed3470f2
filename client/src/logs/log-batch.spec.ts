import { expect } from "chai";
import fc from "fast-check";
import { joinPayloads, percentEncoded } from "./log-batch.ts";

/** The events of a body, as members split it. */
function split(body: Uint8Array, delimiter: Uint8Array): Buffer[] {
  const bytes = Buffer.from(body);
  const events: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(delimiter, from);
    const to = found === -1 ? bytes.length : found;
    events.push(bytes.subarray(from, to));
    from = to + delimiter.length;
  }
  return events;
}

describe("the body of a batch", () => {
  it("splits into its payloads, whatever they are", () => {
    const payload = fc.oneof(
      fc.uint8Array({ maxLength: 5 }),
      fc.string().map(Buffer.from),
      fc.constant(Buffer.from("\n")),
    );
    fc.assert(
      fc.property(fc.array(payload, { minLength: 1, maxLength: 8 }), (payloads) => {
        const { body, delimiter } = joinPayloads(payloads);
        expect(split(body, delimiter).map((event) => [...event])).to.deep.equal(payloads.map((each) => [...each]));
        expect(delimiter.length).to.be.within(1, 64);
      }),
    );
  });

  it("is no larger than its only payload, whatever that contains", () => {
    for (const payload of [Buffer.from("a"), Buffer.from("a\n"), Buffer.from("\n")]) {
      const { body, delimiter } = joinPayloads([payload]);
      expect([...split(body, delimiter)].map(String)).to.deep.equal([String(payload)]);
      expect(body).to.have.length(payload.length);
    }
  });

  it("has a newline between texts of one line, so that a person can read it", () => {
    const { body, delimiter } = joinPayloads([Buffer.from("a"), Buffer.from("")]);
    expect([String(body), percentEncoded(delimiter)]).to.deep.equal(["a\n\n", "%0A"]);
  });
});
