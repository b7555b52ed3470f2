/**
 * Shared parts of the client's specs: a member with scripted answers, and programs run as children.
 */

export { type ChildResult, LAUNCHER, type RunningChild, runQuoinctl, startProgram, startQuoinctl } from "./child.ts";
export { ConnectProxy } from "./connect-proxy.ts";
export { FakeRuntime, runtimeForUnreached } from "./fake-runtime.ts";
export { type ProgramInput, type ProgramRun, runProgram } from "./program-run.ts";
export {
  issueTokens,
  type ReceivedCall,
  type Refusal,
  refuse,
  ScriptedMember,
  type ScriptedStream,
} from "./scripted-member.ts";
export { canMakeTerminals, TerminalRun } from "./terminal-run.ts";
export { TEST_CERTIFICATE, TEST_KEY, UNTRUSTED_CERTIFICATE, UNTRUSTED_KEY } from "./test-certificate.ts";
export { failure, until } from "./until.ts";
