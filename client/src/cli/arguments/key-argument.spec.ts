import { expect } from "chai";
import { UsageError } from "../errors/index.ts";
import { parseKeyArgument, parsePrefixArgument } from "./key-argument.ts";

describe("NAMESPACE/KEY", () => {
  it("is split at the first slash", () => {
    expect(parseKeyArgument("default/greeting")).to.deep.equal({ namespace: "default", key: "greeting" });
    expect(parseKeyArgument("n/a/b//c/")).to.deep.equal({ namespace: "n", key: "a/b//c/" });
    expect(parseKeyArgument("n//")).to.deep.equal({ namespace: "n", key: "/" });
  });

  it("must have both parts", () => {
    for (const text of ["", "/", "n", "n/", "/k"]) {
      expect(() => parseKeyArgument(text), text).to.throw(UsageError);
    }
  });
});

describe("NAMESPACE[/PREFIX]", () => {
  it("may omit the prefix", () => {
    expect(parsePrefixArgument("n")).to.deep.equal({ namespace: "n", prefix: "" });
    expect(parsePrefixArgument("n/")).to.deep.equal({ namespace: "n", prefix: "" });
    expect(parsePrefixArgument("n/a/b")).to.deep.equal({ namespace: "n", prefix: "a/b" });
  });

  it("must have a namespace", () => {
    for (const text of ["", "/", "/p"]) {
      expect(() => parsePrefixArgument(text), text).to.throw(UsageError);
    }
  });
});
