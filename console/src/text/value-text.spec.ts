import { expect } from "chai";
import { bytesOfText, textOfBytes } from "./base64.ts";
import {
  bestForm,
  editableValue,
  formattedValue,
  indentedJson,
  parsedValue,
  possibleForms,
  ValueProblem,
} from "./value-text.ts";

const BINARY = new Uint8Array([0, 255, 16]);
/** JSON that differs after it is parsed and written again. */
const EXACT = [
  '{"id": 9007199254740993}',
  '{"price":1.10,"small":-0,"large":1E400}',
  '{"a":1,"a":2}',
  '{"2":1,"1":2}',
  ' { "a" : "\\u0041\\/" }\n',
  '{"__proto__":{"a":"x \\" y"}}',
];

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

  it("give the same bytes back", () => {
    for (const text of ["h\u00e9llo\n", ...EXACT]) {
      const bytes = bytesOfText(text);
      for (const form of possibleForms(bytes)) {
        expect(textOfBytes(parsedValue(editableValue(bytes, form), form)), `${text} as ${form}`).to.equal(text);
      }
    }
    expect(parsedValue(editableValue(BINARY, "hex"), "hex")).to.deep.equal(BINARY);
  });

  it("store JSON as typed", () => {
    for (const json of EXACT) {
      expect(possibleForms(bytesOfText(json)), json).to.include("json");
      expect(textOfBytes(parsedValue(json, "json"))).to.equal(json);
    }
  });

  it("indent JSON without a change of its tokens", () => {
    expect(formattedValue(bytesOfText('{"a":{"b":[1,2]},"c":[],"d":{}}'), "json")).to.equal(
      '{\n  "a": {\n    "b": [\n      1,\n      2\n    ]\n  },\n  "c": [],\n  "d": {}\n}',
    );
    expect(indentedJson('{"n":[9007199254740993,1.10,-0,1E2],"n":"\\u0041 {,}\\""}')).to.equal(
      '{\n  "n": [\n    9007199254740993,\n    1.10,\n    -0,\n    1E2\n  ],\n  "n": "\\u0041 {,}\\""\n}',
    );
    for (const value of [
      null,
      "x",
      [],
      [[]],
      { a: [{}, { b: [] }], "": 'a "b" \\' },
      [[{ a: "[]{},: \t" }, 1.5], true],
    ]) {
      const indented = JSON.stringify(value, null, 2);
      expect(indentedJson(JSON.stringify(value))).to.equal(indented);
      expect(indentedJson(indented)).to.equal(indented);
    }
  });

  it("indent many levels in little space", () => {
    const levels = 20_000;
    const text = "[".repeat(levels) + "]".repeat(levels);
    expect(indentedJson(text).length).to.be.lessThan(100 * text.length);
  });

  it("refuse a form of editing that would change the bytes", () => {
    for (const bytes of [bytesOfText("dos\r\n"), bytesOfText("a\u0000b"), BINARY]) {
      expect(() => editableValue(bytes, "text")).to.throw(ValueProblem, "edit it in hexadecimal");
    }
    expect(() => editableValue(bytesOfText("x"), "json")).to.throw(ValueProblem, "The value is not JSON.");
  });

  it("refuse text that is no value of the form", () => {
    expect(() => parsedValue("{", "json")).to.throw(ValueProblem, "must be JSON");
    expect(() => indentedJson("{")).to.throw(ValueProblem, "must be JSON");
    expect(() => parsedValue("zz", "hex")).to.throw(ValueProblem, "hexadecimal");
  });
});
