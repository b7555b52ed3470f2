import { expect } from "chai";
import fc from "fast-check";
import { anyText } from "../../../testing/random/index.ts";
import { QuoinError } from "../errors/index.ts";
import { bytesField, int32Field, int64Field, textField } from "./request-field.ts";

function refusal(work: () => unknown): QuoinError {
  try {
    work();
  } catch (error) {
    if (error instanceof QuoinError) {
      return error;
    }
    throw error;
  }
  throw new Error("the value was accepted");
}

/** Asserts the form of every refusal here. */
function assertBadField(work: () => unknown, field: string): void {
  const error = refusal(work);
  expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD", outcome: "not-executed" });
  expect(error.details.get("field")).to.equal(field);
  expect(error.message).to.include(field);
}

describe("textField and bytesField", () => {
  it("S16: refuse lone surrogates anywhere in a text, with the field's name", () => {
    for (const text of ["\ud800", "a\udc00", "\udc00\ud800", "\ud83d", "pre\ud83dpost"]) {
      assertBadField(() => textField("key", text), "key");
      assertBadField(() => bytesField("value", text), "value");
    }
  });

  it("keep every other text: UTF-8 and back is the same", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(textField("key", text)).to.equal(text);
        expect(Buffer.from(bytesField("value", text)).toString("utf8")).to.equal(text);
      }),
    );
  });

  it("S16: refuse exactly the texts that UTF-8 cannot carry", () => {
    const units = fc.array(fc.integer({ min: 0xd7fe, max: 0xe001 }), { maxLength: 6 });
    fc.assert(
      fc.property(units, (codes) => {
        const text = String.fromCharCode(...codes);
        const survives = Buffer.from(text).toString() === text;
        if (survives) {
          expect(textField("key", text)).to.equal(text);
        } else {
          assertBadField(() => textField("key", text), "key");
        }
      }),
    );
  });

  it("take bytes as they are", () => {
    const bytes = Uint8Array.of(0, 255, 128);
    expect(bytesField("value", bytes)).to.equal(bytes);
  });
});

describe("int64Field", () => {
  it("S17: takes whole numbers within ±(2^53 - 1) and refuses others with the field's name, never rounding", () => {
    for (const count of [0, 1, -1, 2 ** 53 - 1, -(2 ** 53) + 1]) {
      expect(int64Field("ttl_seconds", count)).to.equal(BigInt(count));
    }
    for (const count of [2 ** 53, -(2 ** 53), 1e300, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assertBadField(() => int64Field("ttl_seconds", count), "ttl_seconds");
    }
  });
});

describe("int32Field", () => {
  it("takes whole numbers of 32 bits and refuses others", () => {
    for (const count of [0, 1_000, 2 ** 31 - 1, -(2 ** 31)]) {
      expect(int32Field("page_size", count)).to.equal(count);
    }
    for (const count of [2 ** 31, -(2 ** 31) - 1, 1.5, Number.NaN]) {
      assertBadField(() => int32Field("page_size", count), "page_size");
    }
  });
});
