import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { credentialsFromFile, parseCredentials } from "./s3-credentials.ts";

const TEXT = `aws_access_key_id = first
aws_secret_access_key=one=with=equals
[other]
# aws_access_key_id = commented
aws_access_key_id = second
aws_secret_access_key = two
aws_session_token = three
[half]
aws_access_key_id = third
`;

describe("credentials for S3", () => {
  it("are read from sections", () => {
    expect(parseCredentials(TEXT, "default")).to.deep.equal({
      accessKeyId: "first",
      secretAccessKey: "one=with=equals",
    });
    expect(parseCredentials(TEXT, "other")).to.deep.equal({
      accessKeyId: "second",
      secretAccessKey: "two",
      sessionToken: "three",
    });
    expect([parseCredentials(TEXT, "half"), parseCredentials(TEXT, "none")]).to.deep.equal([undefined, undefined]);
  });

  it("are read again from the file, and its errors show no secret", async () => {
    const file = join(temporaryDirectory(), "credentials");
    const provide = credentialsFromFile(file, "half");
    const failure = await provide().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property("name", "CredentialsProviderError");
    writeFileSync(file, TEXT);
    expect(String(await provide().catch((error: unknown) => error)))
      .to.contain("[half]")
      .and.not.contain("third");
    writeFileSync(file, TEXT.replace("third", "third\naws_secret_access_key = four"));
    expect(await provide()).to.include({ accessKeyId: "third", secretAccessKey: "four" });
  });
});
