import { expect } from "chai";
import { namesIn, repeatedName } from "./repeated-name.ts";

describe("names that an object of a JSON text has twice", () => {
  for (const [json, expected] of [
    ['{"a":1,"a":1}', "a"],
    ['{"a":1,"b":{"a":1},"\\u0061":2}', "a"],
    ['{"guard" : {"rw":true,"lockName":"a","lockName" :"b"}}', "guard.lockName"],
    ['{"":{"":{"x":[{"y":1},{"z":{}, "z":[]}]}}}', "..x.z"],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['{"a":"\\"a\\":","\\"a\\":":"{","b":["a","a"],"c":[{"a":1},{"a":1}],"d":{"a":{}}}', null],
    ["{}", null],
    ["[[]]", null],
    ['"a"', null],
  ] as const) {
    it(`are found in ${json}`, () => {
      expect(repeatedName(json)).to.equal(expected);
      const colons = json.replaceAll(/"[^"\\]*(\\.[^"\\]*)*"/g, "").split(":").length - 1;
      expect(namesIn(JSON.parse(json)) < colons, "fewer names than colons").to.equal(expected !== null);
    });
  }
});
