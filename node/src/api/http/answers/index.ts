export { COMMON_HEADERS } from "./common-headers.ts";
export { HttpError, type HttpErrorCode, httpErrorOf, type OwnHttpErrorCode, statusOf } from "./http-error.ts";
export { methodAnswer, methodReply } from "./method-answer.ts";
export { ERROR_TYPE, errorBody, REASON_HEADER, sendError } from "./send-error.ts";
export { EVENT_STREAM_TYPE, type ServerSentEvent, ServerSentEvents } from "./server-sent-events.ts";
export { ASKED_CACHING, compressedFile, type StoredFile, sendFile, storedFile } from "./stored-file.ts";
export { timestamp } from "./timestamp.ts";
export { TurnSlices } from "./turn-slices.ts";
export { decodePercent, parseQuery, splitTarget } from "./url-encoding.ts";
