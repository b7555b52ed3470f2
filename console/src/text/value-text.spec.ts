import { expect } from "chai";
import { bytesOfText, textOfBytes } from "./base64.ts";
import { bestForm, formattedValue, parsedValue, possibleForms, ValueProblem } from "./value-text.ts";

const BINARY = new Uint8Array([0, 255, 16]);

describe("forms of a value", () => {
  it("show JSON objects as JSON, readable text as text, and everything else in hexadecimal", () => {
    expect(bestForm(bytesOfText('{"a":1}'))).to.equal("json");
    for (const text of ["", "hello", "<script>alert(1)</script>", "42", "{not json", "two\nlines"]) {
      expect(bestForm(bytesOfText(text)), text).to.equal("text");
    }
    for (const bytes of [BINARY, bytesOfText("a\u0000b"), bytesOfText("\u001b[31m")]) {
      expect(bestForm(bytes)).to.equal("hex");
    }
  });

  it("offer only forms that keep the bytes", () => {
    expect(possibleForms(bytesOfText("{}"))).to.deep.equal(["text", "json", "hex"]);
    expect(possibleForms(bytesOfText("x"))).to.deep.equal(["text", "hex"]);
    expect(possibleForms(bytesOfText("dos\r\n"))).to.deep.equal(["hex"]);
    expect(possibleForms(BINARY)).to.deep.equal(["hex"]);
  });

  it("do not offer JSON for numbers that JavaScript would round", () => {
    expect(possibleForms(bytesOfText('{"id": 9007199254740993}'))).to.deep.equal(["text", "hex"]);
    expect(possibleForms(bytesOfText('{"id": 1.10}'))).to.deep.equal(["text", "hex"]);
  });

  it("give the same bytes back", () => {
    for (const bytes of [bytesOfText("h\u00e9llo\n"), bytesOfText('{"a":[1,"x \\" y"]}'), BINARY]) {
      for (const form of possibleForms(bytes)) {
        expect(parsedValue(formattedValue(bytes, form), form), form).to.deep.equal(bytes);
      }
    }
  });

  it("indent JSON and store it compactly", () => {
    expect(formattedValue(bytesOfText('{"a":{"b":1}}'), "json")).to.equal('{\n  "a": {\n    "b": 1\n  }\n}');
    expect(textOfBytes(parsedValue(' { "a" : 1 } ', "json"))).to.equal('{"a":1}');
  });

  it("refuse text that is no value of the form", () => {
    expect(() => parsedValue("{", "json")).to.throw(ValueProblem, "must be JSON");
    expect(() => parsedValue("zz", "hex")).to.throw(ValueProblem, "hexadecimal");
  });
});
