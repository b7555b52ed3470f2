/**
 * An echo server for h2spec, a suite of cases of RFC 9113 and RFC 7541 that is not part of this repository:
 *
 *     node node/test/http2/h2spec-server.ts 7450
 *     h2spec --strict --host 127.0.0.1 --port 7450
 */
import { EchoServer } from "./echo-server.ts";

const server = await EchoServer.start({}, Number(process.argv[2] ?? 0));
console.log(`listening on 127.0.0.1:${server.port}`);
