import { expect } from "chai";
import { parseLocation } from "./location.ts";

const S3 = {
  kind: "s3",
  bucket: "backups",
  prefix: "",
  endpoint: undefined,
  region: undefined,
  pathStyle: false,
  caFile: undefined,
  credentialsFile: undefined,
  profile: undefined,
};

describe("location of backups", () => {
  it("is a directory", () => {
    expect(parseLocation("/var/backups/")).to.deep.equal({ kind: "directory", directory: "/var/backups" });
    expect(parseLocation("file:///var/with%20space")).to.deep.equal({
      kind: "directory",
      directory: "/var/with space",
    });
    expect(parseLocation("a/../b")).to.deep.equal({ kind: "directory", directory: `${process.cwd()}/b` });
  });

  it("is a bucket, with options", () => {
    expect(parseLocation("s3://backups")).to.deep.equal(S3);
    expect(parseLocation("s3://backups/a/b/")).to.deep.equal({ ...S3, prefix: "a/b/" });
    const options =
      "endpoint=https://store.example:9000&region=eu-1&path-style=true&ca-file=/ca.pem&credentials-file=/keys&profile=b";
    expect(parseLocation(`s3://backups/a?${options}`)).to.deep.equal({
      kind: "s3",
      bucket: "backups",
      prefix: "a/",
      endpoint: "https://store.example:9000/",
      region: "eu-1",
      pathStyle: true,
      caFile: "/ca.pem",
      credentialsFile: "/keys",
      profile: "b",
    });
  });

  it("is refused with the name of the wrong part, without repeating secrets", () => {
    for (const [text, problem] of [
      ["", "path"],
      ["gs://bucket", "scheme gs"],
      ["s3://", "bucket"],
      ["s3://UPPER", "bucket"],
      ["s3://a_b/x", "bucket"],
      ["s3://backups/a/../b%2e", "name of an object"],
      ["s3://key:hidden@backups", "credentials"],
      ["s3://backups?endpoint=https://key:hidden@host", "endpoint"],
      ["s3://backups?endpoint=hidden:9000", "endpoint"],
      ["s3://backups?endpoint=hidden", "not a URL"],
      ["s3://key:hidden@ba ckups:port", "not a URL"],
      ["s3://backups?secret=hidden", "secret"],
      ["s3://backups?region=", "region"],
      ["s3://backups?region=a&region=b", "region"],
      ["s3://backups?path-style=yes", "path-style"],
      ["s3://backups?profile=a", "credentials-file"],
      ["s3://backups#a", "#"],
      ["file://host/a", "file:///"],
      ["file:///a?b=c", "no options"],
    ] as const) {
      expect(() => parseLocation(text), text)
        .to.throw(problem)
        .with.property("message")
        .not.contain("hidden");
    }
  });
});
