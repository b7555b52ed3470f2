/**
 * `node node/test/http2/hostile/attacker.ts NAME PORT SCALE`: runs one attack in a process of its own, so that the
 * measured client has another event loop. SCALE is JSON; the token comes from the environment. Prints what it did.
 */
import { ATTACKS } from "./attacks.ts";

const [name, port, scale] = process.argv.slice(2);
const attack = ATTACKS.find((one) => one.name === name);
if (attack === undefined) {
  throw new Error(`there is no attack ${name}`);
}
process.stdout.write(
  await attack.run({ port: Number(port), token: process.env.QUOIN_TOKEN ?? "", scale: JSON.parse(scale ?? "") }),
);
process.exit();
