import { writeFile } from "node:fs/promises";
import path from "node:path";
import { inspect } from "node:util";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { createTokenSource, QuoinError } from "../index.ts";

const endpoints = ["127.0.0.1:1"];

async function failure(work: () => unknown): Promise<QuoinError> {
  try {
    await work();
  } catch (error) {
    expect(error).to.be.instanceOf(QuoinError);
    return error as QuoinError;
  }
  throw new Error("it succeeded");
}

describe("createTokenSource", () => {
  it("sends a given token as it is, and has no other", async () => {
    const source = createTokenSource({ credentials: { token: "a.b-c_d~e+f/g==" }, endpoints });
    expect(source.token()).to.equal("a.b-c_d~e+f/g==");
    expect(await source.refresh("a.b-c_d~e+f/g==")).to.equal(undefined);
  });

  it("refuses an invalid bearer token without repeating it", async () => {
    for (const token of ["", "two words", "line\nbreak", "secret\u0000", "sécret"]) {
      const error = await failure(() => createTokenSource({ credentials: { token }, endpoints }));
      expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
      if (token !== "") {
        expect(inspect(error)).to.not.include(token);
      }
    }
  });

  it("refuses an empty password without repeating the address", async () => {
    const credentials = { email: "person@example.com", password: "" };
    const error = await failure(() => createTokenSource({ credentials, endpoints }));
    expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
    expect([...error.details]).to.deep.equal([["field", "credentials.password"]]);
    expect(inspect(error)).to.not.include("person");
  });

  it("refuses an empty API key, and endpoints that are not host:port", async () => {
    const credentials = { apiKey: "k" };
    for (const options of [
      { credentials: { apiKey: "" }, endpoints: ["h:1"] },
      { credentials: { email: "a@b.c" } as unknown as typeof credentials, endpoints: ["h:1"] },
      { credentials: { password: "p" } as unknown as typeof credentials, endpoints: ["h:1"] },
      { credentials, endpoints: [] },
      { credentials, endpoints: ["http://127.0.0.1:7401"] },
      { credentials: { apiKey: "k", httpEndpoints: ["http://127.0.0.1:7401"] }, endpoints: ["h:1"] },
      { credentials: {} as typeof credentials, endpoints: ["h:1"] },
    ]) {
      expect(await failure(() => createTokenSource(options))).to.include({ reason: "BAD_FIELD" });
    }
  });
});

describe("a token file", () => {
  it("has the token in its first line that is not empty, and is read again after a refusal", async () => {
    const directory = temporaryDirectory();
    const tokenFile = path.join(directory, "token");
    await writeFile(tokenFile, "\n  first \nsecond\n");
    const source = createTokenSource({ credentials: { tokenFile }, endpoints });
    expect(await source.token()).to.equal("first");
    expect(await source.refresh("first"), "the file is still the same").to.equal(undefined);
    await writeFile(tokenFile, "next\n");
    expect(await source.token(), "it is not read for every call").to.equal("first");
    expect(await source.refresh("first")).to.equal("next");
    expect(await source.token()).to.equal("next");
  });

  it("if it is missing or has no token, the error does not contain its content", async () => {
    const directory = temporaryDirectory();
    const tokenFile = path.join(directory, "token");
    const source = createTokenSource({ credentials: { tokenFile }, endpoints });
    expect(await failure(() => source.token())).to.include({ code: "UNAUTHENTICATED", reason: "NO_TOKEN" });
    for (const content of ["", "\n\n", "two secrets\n"]) {
      await writeFile(tokenFile, content);
      const error = await failure(() => source.token());
      expect(error).to.include({ code: "UNAUTHENTICATED", reason: "NO_TOKEN" });
      expect(error.message).to.equal(`there is no bearer token in ${tokenFile}`);
    }
  });
});
