/**
 * Keys and errors from CommonJS, without TypeScript: `node quick-start.cjs`, `bun quick-start.cjs` or
 * `deno run --allow-all quick-start.cjs`. QUOIN_ENDPOINTS and QUOIN_TOKEN name the cluster and the token.
 */

const { createClient, isQuoinError } = require("@quoin/client");

const { QUOIN_ENDPOINTS = "127.0.0.1:7400", QUOIN_TOKEN = "" } = process.env;

async function main() {
  const client = createClient({ endpoints: QUOIN_ENDPOINTS.split(","), credentials: { token: QUOIN_TOKEN } });
  try {
    await client.keyValue.put("default", "example/from-commonjs", "hello", { ttlSeconds: 3_600 });
    const { value } = await client.keyValue.get("default", "example/from-commonjs");
    console.log(`read "${new TextDecoder().decode(value)}"`);
    await client.keyValue.delete("default", "example/from-commonjs");
    await client.keyValue.get("default", "example/from-commonjs");
  } catch (error) {
    if (!isQuoinError(error, "KEY_NOT_FOUND")) {
      throw error;
    }
    console.log("removed it");
  } finally {
    client.close();
  }
}

void main();
