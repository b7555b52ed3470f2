/** Clients of an SDK in another language, for loads in TypeScript: a runner carries out their operations. */

export { isSdkLanguage, RemoteSdk, SDK_LANGUAGES } from "./remote-sdk.ts";
